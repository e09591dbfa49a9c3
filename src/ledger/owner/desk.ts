/** Where tabs come: takes their calls, answers each, and tells everybody the news. */
import { z } from 'zod';
import type { FromOwner, OwnerCallName, OwnerCalls, OwnerNews } from '../../protocol/worker.ts';

/** What the owner can do for a tab; as `OwnerCalls`, in its own time. */
export type OwnerAnswers = {
  readonly [Name in OwnerCallName]: (...args: Parameters<OwnerCalls[Name]>) => Promise<ReturnType<OwnerCalls[Name]>>;
};

const call = { id: z.string() };
/** A tab may be of another version than its owner: what it sends is parsed. Documents are parsed by the ledger. */
const callSchema = z.discriminatedUnion('call', [
  z.object({ ...call, call: z.literal('household'), args: z.tuple([]) }),
  z.object({ ...call, call: z.literal('append'), args: z.tuple([z.array(z.custom<Parameters<OwnerCalls['append']>[0][number]>())]) }),
  z.object({
    ...call,
    call: z.literal('conversation'),
    args: z.tuple([z.object({ agentId: z.string(), before: z.string().nullable(), limit: z.number().int().min(1).max(1_000) })]),
  }),
  z.object({ ...call, call: z.literal('wakeMaterial'), args: z.tuple([z.object({ agentIds: z.array(z.string()), cap: z.number().min(0) })]) }),
  z.object({ ...call, call: z.literal('storage'), args: z.tuple([]) }),
  z.object({
    ...call,
    call: z.literal('documents'),
    args: z.tuple([z.object({ after: z.string().nullable(), limit: z.number().int().min(1).max(5_000), agentId: z.string().nullable() })]),
  }),
  z.object({ ...call, call: z.literal('compare'), args: z.tuple([z.array(z.custom<Parameters<OwnerCalls['compare']>[0][number]>())]) }),
  z.object({ ...call, call: z.literal('noteExport'), args: z.tuple([z.object({ time: z.number(), documents: z.number(), sealed: z.boolean() })]) }),
  z.object({ ...call, call: z.literal('rebuild'), args: z.tuple([]) }),
  z.object({ ...call, call: z.literal('reconnect'), args: z.tuple([]) }),
]);
type Call = z.infer<typeof callSchema>;

export interface Desk {
  /** A tab has come: it is welcomed, hears all news, and its messages go into `take` until `leave`. */
  connect(send: (message: FromOwner) => void): { take(message: unknown): void; leave(): void };
  tell(news: OwnerNews): void;
}

export interface DeskDeps {
  readonly answers: OwnerAnswers;
  /** The first news on every line. */
  readonly welcome: () => OwnerNews;
}

export function createDesk({ answers, welcome }: DeskDeps): Desk {
  const lines = new Set<(message: FromOwner) => void>();
  /** Calls that are being answered, by id. A tab whose line broke asks again: it is answered once, on its newest line. */
  const waiting = new Map<string, (message: FromOwner) => void>();

  const answer = ({ call, args }: Call): Promise<unknown> => {
    switch (call) {
      case 'household':
        return answers.household();
      case 'append':
        return answers.append(...args);
      case 'conversation':
        return answers.conversation(...args);
      case 'wakeMaterial':
        return answers.wakeMaterial(...args);
      case 'storage':
        return answers.storage();
      case 'documents':
        return answers.documents(...args);
      case 'compare':
        return answers.compare(...args);
      case 'noteExport':
        return answers.noteExport(...args);
      case 'rebuild':
        return answers.rebuild();
      case 'reconnect':
        return answers.reconnect();
      default:
        return call satisfies never;
    }
  };

  async function reply(message: unknown, send: (message: FromOwner) => void) {
    if (typeof message === 'object' && message !== null && 'ping' in message) {
      send({ pong: true });
      return;
    }
    const parsed = callSchema.safeParse(message);
    if (!parsed.success) {
      const id = z.object({ id: z.string() }).safeParse(message);
      // Without an id nobody waits for an answer.
      if (id.success) send({ reply: id.data.id, ok: false, error: { name: 'ProtocolError', message: parsed.error.message } });
      return;
    }
    const { id } = parsed.data;
    const repeated = waiting.has(id);
    waiting.set(id, send);
    if (repeated) return;
    let result: FromOwner;
    try {
      result = { reply: id, ok: true, value: await answer(parsed.data) };
    } catch (error) {
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
