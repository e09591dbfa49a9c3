/** Refusals of a server, read within bounds, and told in one form whichever protocol it speaks. */
import Anthropic from '@anthropic-ai/sdk';
import { chunksOf } from '../../../../src/shared/domain/platform/old-browsers.ts';
import { isRecord } from '../../../../src/shared/domain/platform/is-record.ts';
import { parseJson } from '../../../../src/shared/domain/platform/json.ts';
import { MIND_LIMITS } from '../settings.ts';

/** The same response. Of a refusal, the beginning is read within the time of the request. */
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
 * The words of an error, as servers write them: `{error: {message}}` (OpenAI), `[{error:
 * {message}}]` (Gemini), `{message}` (older vLLM), `{detail}` (FastAPI), `{error: "…"}` (LM Studio,
 * Ollama). Null: it holds none.
 */
function wordsIn(body: unknown): string | null {
  if (typeof body === 'string') return body;
  if (Array.isArray(body)) return body.length > 0 ? wordsIn(body[0]) : null;
  if (!isRecord(body)) return null;
  const { error, message, detail, metadata } = body;
  // A router passes on the words of the server behind it.
  const raw = isRecord(metadata) && typeof metadata['raw'] === 'string' ? ` ${metadata['raw']}` : '';
  for (const each of [error, message, detail]) {
    const found = each === undefined || each === null ? null : wordsIn(each);
    if (found !== null) return `${found}${raw}`;
  }
  return detail === undefined ? null : JSON.stringify(detail);
}

/** As the Messages API writes it, whatever the server wrote; `message` keeps every word of it. */
function errorBodyOf(body: unknown): object {
  const said = wordsIn(body);
  const inner = Array.isArray(body) ? (body as readonly unknown[])[0] : body;
  const error = isRecord(inner) && isRecord(inner['error']) ? inner['error'] : {};
  const type = [error['type'], error['status'], error['code']].find((each) => typeof each === 'string');
  return { type: 'error', error: { ...error, type, message: said ?? '' } };
}

/** Of a response that is not ok. */
export async function refusalOf(response: Response): Promise<Error> {
  const { status, headers } = response;
  const text = await (await shortRefusal(response)).text();
  const body = parseJson(text);
  return Anthropic.APIError.generate(status, body === undefined ? undefined : errorBodyOf(body), text, headers);
}

/**
 * Of an error that a server reports in a stream. A status that stands in it is no status of the
 * response.
 */
export const streamError = (body: unknown, headers: Headers): Error =>
  new Anthropic.APIError(undefined, errorBodyOf(body), undefined, headers, undefined);
