// A client that protoc-gen-es and connect-node make of the schema, over mutual
// TLS: node ask.mjs PORT CA CERTIFICATE KEY GENERATED. Prints a line a check;
// any difference ends it with an exception.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";

const [port, ca, certificate, key, generated] = process.argv.slice(2);
const load = (name) =>
  import(pathToFileURL(`${generated}/weightd/v1/${name}_pb.js`));
const { AttestationService } = await load("service");
const { VerdictKind } = await load("verdict");

// protobuf-es shows a field that may be absent as the one member of a oneof.
const parameters = (value) => ({
  parameterCountPresence: { case: "parameterCount", value } });

const client = (useBinaryFormat, pair = true) =>
  createClient(AttestationService, createConnectTransport({
    baseUrl: `https://localhost:${port}`,
    httpVersion: "1.1",
    useBinaryFormat,
    nodeOptions: {
      ca: readFileSync(ca),
      ...(pair && { cert: readFileSync(certificate), key: readFileSync(key) }),
    },
  }));

const failure = async (promise) => {
  try {
    await promise;
  } catch (error) {
    assert(error instanceof ConnectError, String(error));
    return error;
  }
  return assert.fail("the call succeeded");
};

// Every kind of field on the way there and back, in both encodings.
async function attests(useBinaryFormat) {
  const nonce = Uint8Array.from({ length: 64 }, (_, i) => 255 - i);
  const answer = await client(useBinaryFormat).attestPort({
    question: { port: 8081 },
    expectation: parameters(7615616512n),
    nonce,
  });
  assert.deepEqual(answer.nonce, nonce);
  assert.equal(answer.verdict.kind, VerdictKind.MATCH);
  const bundle = answer.attestation.groups[0].candidates[0].bundle;
  assert.equal(bundle.parameterCount, 7615616512n);
}

async function bothEncodingsAgree() {
  const ask = (useBinaryFormat) => client(useBinaryFormat).attestPort({
    question: { port: 8081 }, expectation: parameters(5n) });
  const [binary, text] = [await ask(true), await ask(false)];
  assert.equal(binary.verdict.kind, VerdictKind.MISMATCH);
  assert.deepEqual(text, binary);
}

async function theOtherCallsAnswer() {
  const { getHost, listServers, describeBundle } = client(true);
  assert.equal((await getHost({})).host.hostname, "lab");
  assert(Array.isArray((await listServers({})).servers));
  const path = new TextEncoder().encode("/m/m.gguf");
  assert((await describeBundle({ path })) !== undefined);
}

async function errorsHaveTheirCodes() {
  const wrong = await failure(client(true).attestPort({}));
  assert.equal(wrong.code, Code.InvalidArgument, String(wrong));
  const late = await failure(client(true).attestPort(
    { question: { port: 1 } }, { timeoutMs: 300 }));
  assert.equal(late.code, Code.DeadlineExceeded, String(late));
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 100);
  const left = await failure(client(true).attestPort(
    { question: { port: 1 } }, { signal: abort.signal }));
  assert.equal(left.code, Code.Canceled, String(left));
}

async function withoutACertificateNothingIsSaid() {
  const error = await failure(client(true, false).getHost({}));
  assert.notEqual(error.code, Code.Unimplemented, String(error));
}

async function oneConnectionServesMany() {
  const { getHost } = client(true);
  const hosts = await Promise.all(
    Array.from({ length: 20 }, () => getHost({})));
  for (const { host } of hosts)
    assert.equal(host.hostname, "lab");
}

await attests(true);
await attests(false);
for (const check of [bothEncodingsAgree, theOtherCallsAnswer,
    errorsHaveTheirCodes, withoutACertificateNothingIsSaid,
    oneConnectionServesMany]) {
  await check();
  console.log(check.name);
}
process.exit(0);
