// Serves one GGUF model with llama.cpp (node-llama-cpp, CPU):
//
//     node serve.mjs MODEL [--no-mmap] [--port PORT]
//
// Prints "ready PORT PID" when the model is loaded, a context is there and
// the port listens. Every request evaluates a few tokens, so that the answer
// comes from the weights; /stream goes on until the client leaves, as a long
// completion does. Ends with its standard input.
import {createServer} from "node:http";
import {parseArgs} from "node:util";
import {getLlama} from "node-llama-cpp";

const {values, positionals} = parseArgs({
    allowPositionals: true,
    options: {
        "no-mmap": {type: "boolean", default: false},
        port: {type: "string", default: "0"}
    }
});

const llama = await getLlama({
    gpu: false, build: "never", skipDownload: true, logLevel: "error"
});
const model = await llama.loadModel({
    modelPath: positionals[0], useMmap: !values["no-mmap"]
});
const context = await model.createContext({contextSize: 64, threads: 1});
const sequence = context.getSequence();

async function evaluateOne() {
    await sequence.clearHistory();
    for await (const token of sequence.evaluate(model.tokenize("hello")))
        return token;
}
// One after the other: there is one sequence.
let last = Promise.resolve();
function nextToken() {
    const next = last.then(evaluateOne);
    last = next.catch(() => undefined);
    return next;
}
await nextToken();

async function stream(response) {
    response.writeHead(200, {"Content-Type": "text/event-stream"});
    while (!response.destroyed) {
        response.write(`data: ${await nextToken()}\n\n`);
        await new Promise((resume) => setTimeout(resume, 50));
    }
}

const server = createServer(async (request, response) => {
    if (request.url === "/stream")
        return stream(response);
    const token = await nextToken();
    response.writeHead(200, {"Content-Type": "application/json"});
    response.end(JSON.stringify({model: "real-engine", token}) + "\n");
});
server.listen(Number(values.port), "127.0.0.1", () => {
    console.log(`ready ${server.address().port} ${process.pid}`);
});

process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
