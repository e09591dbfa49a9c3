/**
 * Reads a server's error responses within limits, and converts them to one form for all protocols.
 */
import Anthropic from '@anthropic-ai/sdk';
import { chunksOf } from '../../../../src/shared/domain/platform/old-browsers.ts';
import { isRecord } from '../../../../src/shared/domain/platform/is-record.ts';
import { parseJson } from '../../../../src/shared/domain/platform/json.ts';
import { MIND_LIMITS } from '../settings.ts';

/**
 * Returns the same response. The body of an error is cut to a limit, and read within the request's
 * time.
 */
export async function shortRefusal(response: Response): Promise<Response> {
  if (response.ok || !response.body) return response;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(response.body)) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > MIND_LIMITS.refusalBytes) break;
  }
  const { status, statusText, headers } = response;
  return new Response(Buffer.concat(chunks).subarray(0, MIND_LIMITS.refusalBytes), { status, statusText, headers });
}

/**
 * The message in an error body, as servers write it: `{error: {message}}` (OpenAI), `[{error:
 * {message}}]` (Gemini), `{message}` (older vLLM), `{detail}` (FastAPI), `{error: "…"}` (LM Studio,
 * Ollama). Null: it holds none.
 */
function wordsIn(body: unknown): string | null {
  if (typeof body === 'string') return body;
  if (Array.isArray(body)) return body.length > 0 ? wordsIn(body[0]) : null;
  if (!isRecord(body)) return null;
  const { error, message, detail, metadata } = body;
  // A router passes on the message of the server behind it.
  const raw = isRecord(metadata) && typeof metadata['raw'] === 'string' ? ` ${metadata['raw']}` : '';
  for (const each of [error, message, detail]) {
    const found = each === undefined || each === null ? null : wordsIn(each);
    if (found !== null) return `${found}${raw}`;
  }
  return detail === undefined ? null : JSON.stringify(detail);
}

/** The error in the form of the Messages API. `message` keeps the server's full text. */
function errorBodyOf(body: unknown): object {
  const said = wordsIn(body);
  const inner = Array.isArray(body) ? (body as readonly unknown[])[0] : body;
  const error = isRecord(inner) && isRecord(inner['error']) ? inner['error'] : {};
  const type = [error['type'], error['status'], error['code']].find((each) => typeof each === 'string');
  return { type: 'error', error: { ...error, type, message: said ?? '' } };
}

/** For a response that is not ok. */
export async function refusalOf(response: Response): Promise<Error> {
  const { status, headers } = response;
  const text = await (await shortRefusal(response)).text();
  const body = parseJson(text);
  return Anthropic.APIError.generate(status, body === undefined ? undefined : errorBodyOf(body), text, headers);
}

/**
 * For an error that a server reports in a stream. A status inside it is not the status of the
 * response.
 */
export const streamError = (body: unknown, headers: Headers): Error =>
  new Anthropic.APIError(undefined, errorBodyOf(body), undefined, headers, undefined);
