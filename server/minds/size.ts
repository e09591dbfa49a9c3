/** What a request of a mind may come to, before it is sent. */
import { UNSAID_TERMS, type RequestSize } from '../../src/domain/request-cost.ts';
import type { MindRequest } from './mind.ts';
import { WEB_LIMITS } from './settings.ts';

/** Bytes that one block, message or tool takes on the way beside what is in it. */
const AROUND = 64;

/** `wire.ts` marks what may be kept in the model's cache, for minutes or for an hour. */
export function sizeOfRequest({
  model,
  system,
  messages,
  tools,
  maxTokens,
  cachesForAnHour = false,
}: Pick<MindRequest, 'model' | 'system' | 'messages' | 'tools' | 'maxTokens' | 'cachesForAnHour'>): RequestSize {
  let bytes =
    Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools.filter(({ waits }) => waits !== 'unseen')));
  let pictures = 0;
  const own = tools.flatMap(({ provider }) => provider ?? []);
  // What its provider looks up by itself is read too.
  let openEnded = own.length > 0;
  for (const { blocks } of messages)
    for (const block of blocks) {
      if (block.kind === 'document') {
        // One of a few bytes may have hundreds of pages, each of which is read as a picture too.
        openEnded = true;
        continue;
      }
      const { picture = null, ...rest } =
        block.kind === 'tool-result' || block.kind === 'picture' ? block : { ...block, picture: null };
      if (picture) pictures += 1;
      bytes += AROUND + Object.values(rest).reduce<number>((sum, value) => sum + lengthOf(value), 0);
    }
  return {
    model,
    bytes,
    pictures,
    openEnded,
    searches: own.includes('web_search') ? WEB_LIMITS.searches : 0,
    maxOutputTokens: maxTokens,
    cached: cachesForAnHour ? 'hour' : 'minutes',
    terms: UNSAID_TERMS,
  };
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'object' && value !== null ? Buffer.byteLength(JSON.stringify(value)) : AROUND;
}
