/** Request bodies: JSON in UTF-8 that matches a schema, with limits on size. */
import { Worker } from 'node:worker_threads';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import { createJsonCount, type JsonBounds, type TooMuchJson } from '../platform/json-bounds.ts';
import { createPace, nextTurn } from '../platform/pace.ts';
import { misfit, problem } from './problem.ts';

// Bodies of calls as JSON. They are counted as they arrive, and the rest of an oversized one is
// discarded. A long body is parsed in another thread, so that it does not block the relay.

interface BodyBounds {
  readonly bytes: number;
  readonly json: JsonBounds;
}

/**
 * Why a body is refused: its `length`, `depth` or number of `values` is too large, or it is not
 * JSON in UTF-8.
 */
export type BodyFault = TooMuchJson | 'length' | 'syntax';

type ReadJson =
  | { readonly ok: true; readonly value: unknown; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly fault: BodyFault };

const READ = {
  /** Bytes that are parsed in this thread: passing them to another one takes as long. */
  parsedHereBytes: 256_000,
  /** Bytes that are counted in one step. */
  stepBytes: 65_536,
} as const;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Throws where it is not JSON in UTF-8. */
const parseHere = (bytes: Uint8Array): unknown => JSON.parse(decoder.decode(bytes));

/**
 * The code of the other thread. Null stands for invalid JSON. It is text, so it needs no file of
 * its own, wherever the relay was built.
 */
const BESIDE = `
  const { parentPort } = require('node:worker_threads');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  parentPort.on('message', ({ id, bytes }) => {
    let parsed = null;
    try {
      parsed = { value: JSON.parse(decoder.decode(bytes)) };
    } catch {}
    parentPort.postMessage({ id, parsed });
  });
`;

interface Told {
  readonly id: number;
  readonly parsed: { readonly value: unknown } | null;
}

/** One thread for all bodies. It starts with the first long one. */
function createBeside() {
  let worker: Worker | null = null;
  let numbered = 0;
  const waiting = new Map<
    number,
    { readonly done: (told: Told['parsed']) => void; readonly fail: (error: unknown) => void }
  >();

  function begin(): Worker {
    const begun = new Worker(BESIDE, { eval: true, execArgv: [] });
    // The thread does not keep the process alive. If it ends, another one starts.
    begun.unref();
    begun.on('message', ({ id, parsed }: Told) => {
      waiting.get(id)?.done(parsed);
      waiting.delete(id);
    });
    begun.on('error', (error) => {
      worker = null;
      for (const { fail } of waiting.values()) fail(error);
      waiting.clear();
    });
    return begun;
  }

  return (bytes: Uint8Array): Promise<Told['parsed']> =>
    new Promise((done, fail) => {
      worker ??= begin();
      const id = ++numbered;
      waiting.set(id, { done, fail });
      // A slice of a `Buffer` shares its memory, which its owner would lose.
      const copy = new Uint8Array(bytes);
      worker.postMessage({ id, bytes: copy }, [copy.buffer]);
    });
}
const parseBeside = createBeside();

/** All bytes of a body, or the limit that it exceeds. */
async function bytesOf(
  body: ReadableStream<Uint8Array>,
  { bytes: most, json }: BodyBounds,
): Promise<Uint8Array | Exclude<BodyFault, 'syntax'>> {
  const count = createJsonCount(json);
  const pace = createPace();
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  /**
   * The body is read to its end but no longer stored. Otherwise a client that is still sending
   * would see a broken connection instead of the error.
   */
  let fault: TooMuchJson | null = null;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return fault ?? Buffer.concat(chunks, size);
    size += value.length;
    // The rest is not cancelled: that would cut the connection before the answer is sent.
    if (size > most) return 'length';
    for (let from = 0; fault === null && from < value.length; from += READ.stepBytes) {
      await pace();
      fault = count.take(value, from, Math.min(value.length, from + READ.stepBytes));
    }
    if (fault === null) chunks.push(value);
    else chunks.length = 0;
  }
}

export async function readJson(body: ReadableStream<Uint8Array> | null, bounds: BodyBounds): Promise<ReadJson> {
  const bytes = body === null ? new Uint8Array() : await bytesOf(body, bounds);
  if (typeof bytes === 'string') return { ok: false, fault: bytes };
  if (bytes.length > READ.parsedHereBytes) {
    const parsed = await parseBeside(bytes);
    // Receiving it took a step of its own.
    await nextTurn();
    return parsed ? { ok: true, value: parsed.value, bytes } : { ok: false, fault: 'syntax' };
  }
  try {
    return { ok: true, value: parseHere(bytes), bytes };
  } catch (error) {
    // JSON.parse throws SyntaxError, the decoder TypeError.
    if (error instanceof SyntaxError || error instanceof TypeError) return { ok: false, fault: 'syntax' };
    throw error;
  }
}

/** The raw bytes of a body. Null: there are more than `most`. */
export async function readBytes(body: ReadableStream<Uint8Array> | null, most: number): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks, size);
    size += value.length;
    // The rest is not cancelled: that would cut the connection before the answer is sent.
    if (size > most) return null;
    chunks.push(value);
  }
}

/** A sentence about the exceeded limit, for the sender. */
export function tooMuchOf(fault: Exclude<BodyFault, 'syntax'>, { bytes, json }: BodyBounds): string {
  switch (fault) {
    case 'length':
      return `This call may carry ${bytes.toLocaleString('en')} bytes at most.`;
    case 'values':
      return `The body holds more than ${json.values.toLocaleString('en')} values. Send it in smaller parts.`;
    case 'depth':
      return `The body nests lists or objects more than ${json.depth} deep. Send it flatter.`;
    default:
      return fault satisfies never;
  }
}

export const limitBody = () =>
  bodyLimit({
    maxSize: LIMITS.bodyBytes,
    onError() {
      throw problem(413, 'too-large', `A call may carry ${LIMITS.bodyBytes} bytes at most.`);
    },
  });

/** Limits of a call's body. */
export interface CallBounds {
  readonly bytes: number;
  readonly values: number;
}

/**
 * The parsed body. Throws a problem: 415 where it is not sent as JSON, 413 where it is too large,
 * 400 where it does not fit the schema.
 */
export async function readBody<Value>(
  context: Context,
  schema: z.ZodType<Value>,
  { bytes, values }: CallBounds,
): Promise<Value> {
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw problem(415, 'not-json', 'Send the body as application/json.');
  const bounds = { bytes, json: { depth: LIMITS.jsonDepth, values } };
  const read = await readJson(context.req.raw.body, bounds);
  if (!read.ok) {
    const { fault } = read;
    if (fault === 'syntax')
      throw problem(400, 'not-json', 'The body is not JSON in UTF-8.', {
        fields: { errors: [{ field: 'body', message: 'not JSON in UTF-8' }] },
      });
    throw problem(413, fault === 'length' ? 'too-large' : 'too-much', tooMuchOf(fault, bounds));
  }
  const parsed = schema.safeParse(read.value);
  if (!parsed.success) throw misfit(parsed.error);
  return parsed.data;
}
