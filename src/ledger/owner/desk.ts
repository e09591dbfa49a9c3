/** Where tabs come: takes their calls, answers each, and tells everybody the news. */
import { z } from 'zod';
import { LIMITS } from '../../protocol/limits.ts';
import { SYNC_REQUESTS } from '../../protocol/sync/page.ts';
import type { FromOwner, OwnerCallName, OwnerCalls, OwnerNews } from '../../protocol/worker.ts';

/** What the owner can do for a tab; as `OwnerCalls`, in its own time. */
export type OwnerAnswers = {
  readonly [Name in OwnerCallName]: (...args: Parameters<OwnerCalls[Name]>) => Promise<ReturnType<OwnerCalls[Name]>>;
};

/** A tab may be of another version than its owner: what it sends is parsed. Documents are parsed by the ledger. */
const REQUESTS: { readonly [Name in OwnerCallName]: z.ZodType<Parameters<OwnerCalls[Name]>> } = {
  household: z.tuple([]),
  append: z.tuple([z.array(z.custom<Parameters<OwnerCalls['append']>[0][number]>())]),
  conversation: z.tuple([
    z.object({ agentId: z.string(), before: z.string().nullable(), limit: z.number().int().min(1).max(1_000) }),
  ]),
  unread: z.tuple([]),
  wakeMaterial: z.tuple([z.object({ agentIds: z.array(z.string()), cap: z.number().min(0) })]),
  storage: z.tuple([]),
  documents: z.tuple([
    z.object({
      after: z.string().nullable(),
      limit: z.number().int().min(1).max(5_000),
      agentId: z.string().nullable(),
    }),
  ]),
  within: z.tuple([z.object({ about: z.string(), after: z.string().nullable(), limit: z.number().int().min(0) })]),
  compare: z.tuple([z.array(z.custom<Parameters<OwnerCalls['compare']>[0][number]>())]),
  noteExport: z.tuple([z.object({ time: z.number(), documents: z.number(), sealed: z.boolean() })]),
  rebuild: z.tuple([]),
  takePageKey: z.tuple([z.object({ key: z.string().max(LIMITS.id).nullable() })]),
  reconnect: z.tuple([]),
  ...SYNC_REQUESTS,
};
const isCallName = (name: unknown): name is OwnerCallName => typeof name === 'string' && Object.hasOwn(REQUESTS, name);
const callSchema = z.object({
  call: z.custom<OwnerCallName>(isCallName, 'is no call of the owner'),
  id: z.string(),
  args: z.unknown(),
});

export interface Desk {
  /** A tab has come: it is welcomed, hears all news, and its messages go into `take` until `leave`. */
  connect(send: (message: FromOwner) => void): { take(message: unknown): void; leave(): void };
  tell(news: OwnerNews): void;
}

export interface DeskDeps {
  readonly answers: OwnerAnswers;
  /** A call was answered with this error. */
  readonly onError: (error: unknown) => void;
  /** The first news on every line. */
  readonly welcome: () => OwnerNews;
}

export function createDesk({ answers, welcome, onError }: DeskDeps): Desk {
  const lines = new Set<(message: FromOwner) => void>();
  /** Calls that are being answered, by id. A tab whose line broke asks again: it is answered once, on its newest line. */
  const waiting = new Map<string, (message: FromOwner) => void>();

  function read<Name extends OwnerCallName>(
    name: Name,
    args: unknown,
  ): { readonly error: string } | { readonly answer: () => Promise<unknown> } {
    const request: z.ZodType<Parameters<OwnerCalls[Name]>> = REQUESTS[name];
    const parsed = request.safeParse(args);
    return parsed.success ? { answer: () => answers[name](...parsed.data) } : { error: parsed.error.message };
  }

  async function reply(message: unknown, send: (message: FromOwner) => void) {
    if (typeof message === 'object' && message !== null && 'ping' in message) {
      send({ pong: true });
      return;
    }
    const named = z.object({ id: z.string() }).safeParse(message);
    // Without an id nobody waits for an answer.
    if (!named.success) return;
    const { id } = named.data;
    const parsed = callSchema.safeParse(message);
    const call = parsed.success ? read(parsed.data.call, parsed.data.args) : { error: parsed.error.message };
    if ('error' in call) {
      send({ reply: id, ok: false, error: { name: 'ProtocolError', message: call.error } });
      return;
    }
    const repeated = waiting.has(id);
    waiting.set(id, send);
    if (repeated) return;
    let result: FromOwner;
    try {
      result = { reply: id, ok: true, value: await call.answer() };
    } catch (error) {
      onError(error);
      const { name, message: text } = error instanceof Error ? error : { name: 'Error', message: String(error) };
      result = { reply: id, ok: false, error: { name, message: text } };
    }
    const latest = waiting.get(id);
    waiting.delete(id);
    latest?.(result);
  }

  return {
    connect(send) {
      lines.add(send);
      send(welcome());
      return {
        take: (message) => void reply(message, send),
        leave: () => void lines.delete(send),
      };
    },
    tell(news) {
      for (const send of lines) send(news);
    },
  };
}
