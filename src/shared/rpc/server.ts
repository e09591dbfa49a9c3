/** An RPC server: takes calls, answers each, and sends notices to all connections. */
import { z } from 'zod';
import type { AnswersOf, FromServer, Methods, Reply } from './method.ts';

type News = { readonly news: string };

export interface RpcServer<Notice extends News = never> {
  /**
   * Adds a connection. It gets the welcome and all notices. Its messages go into `take` until
   * `leave`.
   */
  connect(send: (message: FromServer<Notice>) => void): { take(message: unknown): void; leave(): void };
  notify(news: Notice): void;
}

export interface RpcServerDeps<Table extends Methods, Notice extends News = never> {
  readonly methods: Table;
  readonly answers: AnswersOf<Table>;
  /** A call was answered with this error. */
  readonly onError: (error: unknown) => void;
  /** The first notice on every connection. Left out: there are no notices. */
  readonly welcome?: () => Notice;
}

function plainly(error: unknown): Extract<Reply, { ok: false }>['error'] {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message } = error;
  return 'kind' in error && typeof error.kind === 'string' ? { name, message, kind: error.kind } : { name, message };
}

const callSchema = z.object({ id: z.string(), call: z.string(), args: z.array(z.unknown()) });

export function createRpcServer<Table extends Methods, Notice extends News = never>({
  methods,
  answers,
  welcome,
  onError,
}: RpcServerDeps<Table, Notice>): RpcServer<Notice> {
  type Send = (message: FromServer<Notice>) => void;
  const connections = new Set<Send>();
  /**
   * Calls under way, by id. A page whose connection broke repeats its call. The server answers
   * once, on the newest connection.
   */
  const waiting = new Map<string, Send>();

  const isMethod = (name: string): name is keyof Table & string => Object.hasOwn(methods, name);

  function read(message: unknown): { readonly error: string } | { readonly answer: () => Promise<unknown> } {
    const call = callSchema.safeParse(message);
    if (!call.success) return { error: call.error.message };
    const { call: name, args } = call.data;
    if (!isMethod(name)) return { error: `There is no call ${name}.` };
    const parsed = methods[name]?.in.safeParse(args);
    if (!parsed?.success) return { error: parsed?.error.message ?? '' };
    // The method's own schema has parsed the arguments.
    const answer = answers[name] as (...args: readonly unknown[]) => Promise<unknown>;
    return { answer: () => answer(...parsed.data) };
  }

  async function reply(message: unknown, send: Send) {
    if (typeof message === 'object' && message !== null && 'ping' in message) {
      send({ pong: true });
      return;
    }
    const named = z.object({ id: z.string() }).safeParse(message);
    // A message without an id has no caller that waits.
    if (!named.success) return;
    const { id } = named.data;
    const call = read(message);
    if ('error' in call) {
      send({ reply: id, ok: false, error: { name: 'ProtocolError', message: call.error } });
      return;
    }
    const repeated = waiting.has(id);
    waiting.set(id, send);
    if (repeated) return;
    let result: FromServer<Notice>;
    try {
      result = { reply: id, ok: true, value: await call.answer() };
    } catch (error) {
      onError(error);
      result = { reply: id, ok: false, error: plainly(error) };
    }
    const latest = waiting.get(id);
    waiting.delete(id);
    latest?.(result);
  }

  return {
    connect(send) {
      connections.add(send);
      if (welcome) send(welcome());
      return {
        take: (message) => void reply(message, send),
        leave: () => void connections.delete(send),
      };
    },
    notify(news) {
      for (const send of connections) send(news);
    },
  };
}
