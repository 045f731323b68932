// Serves one ONNX model with ONNX Runtime (CPU):
//
//     node serve.mjs MODEL          or MODEL in the variable WD_TEST_MODEL
//
// Prints "ready PORT PID" when the session is there and has run once. Every
// request runs the model. Ends with its standard input.
import {createServer} from "node:http";
import ort from "onnxruntime-node";

const session = await ort.InferenceSession.create(
    process.argv[2] ?? process.env.WD_TEST_MODEL);
const [name] = session.inputNames;
const width = Number(session.inputMetadata?.[0]?.shape?.[1] ?? 512);
const input = new ort.Tensor("float32", new Float32Array(width).fill(1),
    [1, width]);

async function run() {
    const outputs = await session.run({[name]: input});
    return outputs[session.outputNames[0]].data[0];
}
await run();

const server = createServer(async (request, response) => {
    response.writeHead(200, {"Content-Type": "application/json"});
    response.end(JSON.stringify({model: "onnx", first: await run()}) + "\n");
});
server.listen(0, "127.0.0.1", () => {
    console.log(`ready ${server.address().port} ${process.pid}`);
});

process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
