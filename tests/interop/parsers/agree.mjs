// Do independent parsers see in a bundle what weightctl sees?
//
//   node agree.mjs WEIGHTCTL MKBUNDLE FOLDER
//
// Makes bundles with known counts in FOLDER and compares parameter count, tensor count
// and name: as made, as weightctl says, as @huggingface/gguf, hyllama or
// @huggingface/hub say. Exit 1 when two of them differ.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { parseSafetensorsMetadata } from "@huggingface/hub";
import { gguf } from "@huggingface/gguf";
import { ggufMetadata } from "hyllama";

const [weightctl, mkbundle, folder] = process.argv.slice(2);
let compared = 0;
let failed = 0;

function same(what, expected, found) {
  compared++;
  if (String(expected) === String(found)) return;
  failed++;
  console.error(`FAILED ${what}: expected ${expected}, found ${found}`);
}

function make(name, ...options) {
  const out = path.join(folder, name);
  execFileSync(mkbundle, [out, ...options.map(String)]);
  return out;
}

// The proto3 JSON of message Bundle: 64-bit numbers are strings.
function ours(file) {
  const text = execFileSync(weightctl, ["bundle", file, "--format", "json"]);
  return JSON.parse(text.toString());
}

const product = (shape) => shape.reduce((a, b) => a * BigInt(b), 1n);

async function huggingfaceGguf(files) {
  let parameters = 0, tensors = 0, name;
  for (const file of files) {
    const read = await gguf(file, { allowLocalFile: true, computeParametersCount: true });
    parameters += read.parameterCount;
    tensors += read.tensorInfos.length;
    name ??= read.metadata["general.name"];
  }
  return { parameters, tensors, name };
}

function hyllama(files) {
  let parameters = 0n, tensors = 0, name;
  for (const file of files) {
    const b = fs.readFileSync(file);
    const read = ggufMetadata(b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength));
    for (const tensor of read.tensorInfos) parameters += product(tensor.shape);
    tensors += read.tensorInfos.length;
    name ??= read.metadata["general.name"];
  }
  return { parameters, tensors, name };
}

// @huggingface/hub asks a server; this one answers from a folder.
function serve(dir) {
  return async (url, init) => {
    const at = new URL(url.href ?? url.url ?? url).pathname.match(/\/(?:resolve|raw)\/[^/]+\/(.+)$/);
    const file = at && path.join(dir, decodeURIComponent(at[1]));
    if (!file || !fs.existsSync(file))
      return new Response(null, { status: 404, headers: { "X-Error-Code": "EntryNotFound" } });
    const bytes = fs.readFileSync(file);
    const range = new Headers(init?.headers).get("range")?.match(/^bytes=(\d+)-(\d*)$/);
    if (!range) return new Response(bytes, { headers: { etag: '"x"' } });
    const start = Number(range[1]);
    const end = Math.min(range[2] === "" ? Infinity : Number(range[2]), bytes.length - 1);
    return new Response(bytes.subarray(start, end + 1), {
      status: 206,
      headers: { etag: '"x"', "content-range": `bytes ${start}-${end}/${bytes.length}` },
    });
  };
}

async function hub(dir) {
  const read = await parseSafetensorsMetadata({ repo: "a/b", computeParametersCount: true, fetch: serve(dir) });
  const headers = read.sharded ? Object.values(read.headers) : [read.header];
  const tensors = headers.flatMap((h) => Object.keys(h)).filter((key) => key !== "__metadata__").length;
  const parameters = read.parameterTotal ?? Object.values(read.parameterCount).reduce((a, b) => a + b, 0);
  return { parameters, tensors };
}

function compare(what, expected, found) {
  same(`${what}, parameters`, expected.parameters, found.parameters);
  same(`${what}, tensors`, expected.tensors, found.tensors);
  if ("name" in found) same(`${what}, name`, expected.name, found.name);
}

function compareOurs(what, expected, file) {
  const bundle = ours(file);
  same(`${what}, weightctl knows the count`, true, bundle.parametersKnown);
  compare(`${what}, weightctl`, expected, {
    parameters: bundle.parameterCount ?? 0, // proto3 JSON leaves zeros out
    tensors: bundle.tensorCount ?? 0,
    ...("name" in expected ? { name: bundle.innerName } : {}),
  });
}

async function ggufCase(encoding, tensors, elements, split) {
  const name = `Made ${encoding} "${tensors}"`;
  const what = `${encoding} ${tensors}x${elements}${split ? ` in ${split}` : ""}`;
  const out = make(`${encoding}-${split}.gguf`, "--encoding", encoding, "--tensors", tensors,
    "--elements", elements, "--name", name, "--vocab", 1000, ...(split ? ["--split", split] : []));
  const stem = out.slice(0, -".gguf".length);
  const shard = (i) => `${stem}-${String(i).padStart(5, "0")}-of-${String(split).padStart(5, "0")}.gguf`;
  const files = split ? Array.from({ length: split }, (_, i) => shard(i + 1)) : [out];
  const expected = { parameters: tensors * elements, tensors, name };
  compare(`${what}, @huggingface/gguf`, expected, await huggingfaceGguf(files));
  compare(`${what}, hyllama`, expected, hyllama(files));
  for (const file of files) compareOurs(what, expected, file);
}

async function safetensorsCase(encoding, tensors, elements, shards) {
  const what = `safetensors ${encoding} ${tensors}x${elements} in ${shards}`;
  const dir = make(`${encoding}-${shards}`, "--safetensors", "--encoding", encoding, "--tensors", tensors,
    "--elements", elements, "--shards", shards);
  const expected = { parameters: tensors * elements, tensors };
  compare(`${what}, @huggingface/hub`, expected, await hub(dir));
  compareOurs(what, expected, dir);
}

for (const encoding of ["F32", "F16", "BF16", "Q4_0", "Q8_0", "Q4_K", "Q6_K", "IQ4_XS", "TQ1_0", "MXFP4", "NVFP4"])
  await ggufCase(encoding, 5, 2048, 0);
await ggufCase("F32", 1, 7, 0);
await ggufCase("F16", 0, 0, 0);
await ggufCase("Q8_0", 10, 4096, 3);
// Packed tensors: one parameter is not one element.
async function packedCase(scheme, tensors, elements, shards) {
  const what = `safetensors ${scheme} ${tensors}x${elements} in ${shards}`;
  const dir = make(`${scheme}-${shards}`, "--safetensors", "--packed", scheme, "--tensors", tensors,
    "--elements", elements, "--shards", shards);
  const bundle = ours(dir);
  same(`${what}, weightctl knows the count`, true, bundle.parametersKnown);
  same(`${what}, weightctl, parameters`, tensors * elements, bundle.parameterCount);
  const theirs = await hub(dir);
  same(`${what}, @huggingface/hub, parameters`, tensors * elements, theirs.parameters);
  same(`${what}, tensors`, theirs.tensors, bundle.tensorCount);
}

for (const encoding of ["F32", "F16", "BF16"]) await safetensorsCase(encoding, 5, 2048, 1);
await safetensorsCase("BF16", 10, 4095, 4);
for (const scheme of ["mlx-2", "mlx-3", "mlx-4", "mlx-5", "mlx-6", "mlx-8", "mlx-mxfp4", "gptq-4", "awq-4",
  "ct-4", "nf4", "mxfp4", "fp8"])
  for (const shards of [1, 3]) await packedCase(scheme, 6, 4096, shards);

console.log(`${compared} values compared, ${failed} differ`);
process.exit(failed === 0 ? 0 : 1);
