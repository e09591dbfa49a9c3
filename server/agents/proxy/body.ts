/** Bodies in both directions. A request is read whole up to a limit. An answer is streamed. */
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { isRecord } from '../../../src/shared/domain/platform/json.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { RequestSize } from '../../../src/shared/domain/request-cost.ts';
import { type BodyFault, readJson, tooMuchOf } from '../../http/body.ts';
import type { ProxyError } from './upstream.ts';

/** The most that a client's request may cost, estimated from its body before it is sent. */
const shape = z.object({
  model: z.string().catch(''),
  max_tokens: z.number().int().positive().nullable().catch(null),
  speed: z.string().nullish().catch(null),
  service_tier: z.string().nullish().catch(null),
  inference_geo: z.string().nullish().catch(null),
  tools: z.array(z.unknown()).nullish().catch(null),
  mcp_servers: z.array(z.unknown()).nullish().catch(null),
});
/** Read one by one without a schema, because there may be tens of thousands. */
const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
const toolOf = (tool: unknown) =>
  isRecord(tool) ? { type: textOf(tool['type']), most: tool['max_uses'] } : { type: null, most: null };

/**
 * Searches where a request sets no limit of its own, and the most that fit into one answer,
 * whatever limit it sets.
 */
const SEARCHES = 10;
const SEARCHES_MOST = 1_000;
/**
 * Deepest nesting that is searched. Content is in messages, in the tool results in them, and in the
 * documents in those.
 */
const DEPTH = 16;

interface Found {
  pictures: number;
  /** Bytes of pictures in the body. */
  pictureBytes: number;
  openEnded: boolean;
  hourOfCache: boolean;
  cached: boolean;
}

function inspect(value: unknown, totals: Found, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > DEPTH) return;
  if (Array.isArray(value)) {
    for (const each of value) inspect(each, totals, depth + 1);
    return;
  }
  const { type, source, cache_control: cache }: { type?: unknown; source?: unknown; cache_control?: unknown } = value;
  if (typeof cache === 'object' && cache !== null) {
    totals.cached = true;
    totals.hourOfCache ||= 'ttl' in cache && cache.ttl === '1h';
  }
  if ((type === 'image' || type === 'document') && typeof source === 'object' && source !== null) {
    const data = 'data' in source && typeof source.data === 'string' ? source.data : null;
    if (type === 'image') {
      totals.pictures += 1;
      totals.pictureBytes += data?.length ?? 0;
    } else if (!('content' in source) && !('type' in source && source.type === 'text')) {
      // A file of few bytes may have hundreds of pages, and each page also counts as a picture.
      totals.openEnded = true;
    }
  }
  for (const each of Object.values(value)) inspect(each, totals, depth + 1);
}

/**
 * A client's own tools have no type, or `custom`, or a type that the model knows and the client
 * runs. The server may run all others.
 */
const isOfServer = (type: string | null) =>
  type !== null && !/^(?:custom$|bash_|text_editor_|computer_|memory_)/.test(type);

const searchesOf = (most: unknown) =>
  typeof most === 'number' && most >= 0 ? Math.min(Math.ceil(most), SEARCHES_MOST) : SEARCHES;

/** `body`: parsed. `bytes`: its original size. */
export function sizeOf(body: unknown, bytes: number): RequestSize {
  const parsed = shape.safeParse(body);
  const totals: Found = { pictures: 0, pictureBytes: 0, openEnded: false, hourOfCache: false, cached: false };
  inspect(body, totals, 0);
  const content = parsed.success ? parsed.data : null;
  const tools = (content?.tools ?? []).map(toolOf).filter(({ type }) => isOfServer(type));
  const searching = tools.filter(({ type }) => type?.startsWith('web_search') === true);
  return {
    model: content?.model ?? '',
    bytes: Math.max(0, bytes - totals.pictureBytes),
    pictures: totals.pictures,
    openEnded: totals.openEnded || tools.length > 0 || (content?.mcp_servers ?? []).length > 0,
    searches: Math.min(
      SEARCHES_MOST,
      searching.reduce((sum, { most }) => sum + searchesOf(most), 0),
    ),
    maxOutputTokens: content?.max_tokens ?? null,
    cached: totals.hourOfCache ? 'hour' : totals.cached ? 'minutes' : 'not',
    terms: {
      fast: content?.speed === 'fast',
      // The default is `auto`, which uses priority capacity where the account has any.
      priority: content?.service_tier !== 'standard_only',
      resident: typeof content?.inference_geo === 'string' && content.inference_geo !== 'global',
      batch: false,
    },
  };
}

const BOUNDS = {
  bytes: LIMITS.bodyBytes,
  json: { depth: LIMITS.jsonDepth, values: LIMITS.modelValues },
};

export interface ProxyBody {
  /** The original bytes. */
  readonly bytes: Uint8Array;
  /** The parsed body. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
  readonly size: RequestSize;
  /** The same request for another model. */
  ofModel(model: string): ProxyBody;
}

function bodyOf(request: Readonly<Record<string, unknown>>, bytes: Uint8Array): ProxyBody {
  return {
    bytes,
    json: request,
    stream: request['stream'] === true,
    size: sizeOf(request, bytes.byteLength),
    ofModel(model) {
      const asked = { ...request, model };
      return bodyOf(asked, Buffer.from(JSON.stringify(asked)));
    },
  };
}

export async function readRequest(
  request: Request,
): Promise<{ readonly ok: true; readonly body: ProxyBody } | { readonly ok: false; readonly error: ProxyError }> {
  const tooLarge = (fault: Exclude<BodyFault, 'syntax'>) => ({
    ok: false as const,
    error: { kind: 'too-large' as const, message: tooMuchOf(fault, BOUNDS) },
  });
  if (Number(request.headers.get('content-length') ?? 0) > BOUNDS.bytes) return tooLarge('length');
  const read = await readJson(request.body, BOUNDS);
  if (!read.ok && read.fault !== 'syntax') return tooLarge(read.fault);
  return read.ok && isRecord(read.value)
    ? { ok: true, body: bodyOf(read.value, read.bytes) }
    : { ok: false, error: { kind: 'malformed', message: 'The body is not a JSON object in UTF-8.' } };
}

/**
 * Streams the pieces as fast as they are read. If they break off, the connection is cut after the
 * sent part, because a cut answer must not look complete. `over` is called when no more will be
 * read.
 */
export function streamOf(
  pieces: AsyncGenerator<Uint8Array, void, undefined>,
  outgoing: ServerResponse,
  leaving: AbortController,
  over: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const cut = () => {
    if (!outgoing.destroyed) outgoing.write('', () => outgoing.destroy());
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (!done) return controller.enqueue(value);
          await over();
          return controller.close();
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          leaving.abort(error);
          await over();
          return cut();
        }
      },
      async cancel() {
        leaving.abort(new Error('the client has gone'));
        await pieces.return();
        await over();
      },
    },
    { highWaterMark: 0 },
  );
}
