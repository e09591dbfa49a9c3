/**
 * A page's side of a connection to an RPC server. The client repeats each unanswered call, with its
 * id, on every new connection. So each call is answered once, whatever happens to the connection or
 * the server.
 */
import { createListeners } from '../domain/platform/events.ts';
import type { After } from '../domain/platform/timers.ts';
import type { ArgsOf, Call, CallOf, FromServer, Methods, OutOf, Reply, ToServer } from './method.ts';

// Calls under way over one connection. Each stays until its reply arrives.

interface Calls<Table extends Methods> {
  /**
   * Rejects with an Error that has the name, kind and message of the server's error. The message is
   * for people.
   */
  readonly call: CallOf<Table>;
  take(reply: Reply): void;
  /** Sends every unanswered call once more, with its id. */
  repeat(): void;
  count(): number;
}

interface CallsDeps<Name extends string> {
  readonly newId: () => string;
  readonly send: (message: Call<Name>) => void;
}

export function createCalls<Table extends Methods>({ newId, send }: CallsDeps<keyof Table & string>): Calls<Table> {
  const underWay = new Map<
    string,
    {
      readonly message: Call<keyof Table & string>;
      readonly resolve: (value: unknown) => void;
      readonly reject: (error: Error) => void;
    }
  >();
  return {
    call<Name extends keyof Table & string>(name: Name, ...args: ArgsOf<Table, Name>) {
      type Out = OutOf<Table, Name>;
      return new Promise<Out>((resolve, reject) => {
        const message = { call: name, id: newId(), args };
        // One table types both ends, so the reply to `name` has its type.
        underWay.set(message.id, { message, resolve: (value) => resolve(value as Out), reject });
        send(message);
      });
    },
    take(message) {
      const call = underWay.get(message.reply);
      underWay.delete(message.reply);
      if (message.ok) call?.resolve(message.value);
      else {
        const { message: text, ...named } = message.error;
        call?.reject(Object.assign(new Error(text), named));
      }
    },
    repeat() {
      for (const { message } of underWay.values()) send(message);
    },
    count: () => underWay.size,
  };
}

type News = { readonly news: string };

/** One connection to a server. */
export interface Connection<Name extends string> {
  send(message: ToServer<Name>): void;
  close(): void;
}

export interface ConnectionEnds<Notice extends News> {
  /** Takes a message of the server. */
  take(message: FromServer<Notice>): void;
  /** The connection broke. `detail` says why, if known. */
  gone(detail?: string): void;
}

export interface RpcClient<Table extends Methods, Notice extends News> {
  /**
   * Resolves with the server's answer. Rejects with an Error that has the name and message of the
   * server's error. The message is for people.
   */
  readonly call: CallOf<Table>;
  /**
   * Passes on every notice of the server, in order. The first is its welcome, which is stored for
   * the first listener. A further welcome means a new connection and replaces what was known of the
   * server's state. Returns the function that unsubscribes.
   */
  subscribe(listener: (news: Notice) => void): () => void;
  close(): void;
}

interface RpcClientDeps<Name extends string, Notice extends News> {
  readonly open: (ends: ConnectionEnds<Notice>) => Connection<Name>;
  readonly newId: () => string;
  readonly after: After;
  /** Is this notice the first on a connection? */
  readonly isWelcome: (news: Notice) => boolean;
  /** The notice for listeners while no server answers. */
  readonly unanswered: (detail: string | null) => Notice;
  /**
   * ms. `silence`: without a notice until `unanswered` is sent. `renew`: a call is under way
   * without a message until the server is pinged, and as long again until the connection is
   * replaced. `reopen`: pause before a broken connection is opened anew.
   */
  readonly times: { readonly silence: number; readonly renew: number; readonly reopen: number };
}

export function createRpcClient<Table extends Methods, Notice extends News>({
  open: openConnection,
  newId,
  after,
  isWelcome,
  unanswered,
  times,
}: RpcClientDeps<keyof Table & string, Notice>): RpcClient<Table, Notice> {
  type Name = keyof Table & string;
  const calls = createCalls<Table>({
    newId,
    send(message) {
      connection?.send(message);
      if (!cancelRenewal) watchCalls();
    },
  });
  const listeners = createListeners<[Notice]>();
  let unheard: Notice[] = [];
  let connection: Connection<Name> | null = null;
  let connectionNumber = 0;
  let cancelSilence: (() => void) | null = null;
  let cancelRenewal: (() => void) | null = null;
  /** Has the server sent anything since the wait began? */
  let heard = false;
  let closed = false;

  function tell(news: Notice) {
    if (listeners.count() === 0) unheard.push(news);
    listeners.tell(news);
  }

  /**
   * The server may have ended silently, and a call may take long. Only a server that does not
   * answer a ping is left.
   */
  function watchCalls() {
    cancelRenewal?.();
    cancelRenewal = null;
    if (calls.count() === 0 || closed) return;
    heard = false;
    cancelRenewal = after(times.renew, () => {
      if (heard || calls.count() === 0) {
        watchCalls();
        return;
      }
      connection?.send({ ping: true });
      cancelRenewal = after(times.renew, () => (heard ? watchCalls() : open()));
    });
  }

  function take(message: FromServer<Notice>) {
    heard = true;
    if ('pong' in message) return;
    if ('news' in message) {
      cancelSilence?.();
      cancelSilence = null;
      if (isWelcome(message)) calls.repeat();
      tell(message);
    } else calls.take(message);
  }

  function open() {
    const number = ++connectionNumber;
    const isCurrent = () => number === connectionNumber && !closed;
    connection?.close();
    // The timer survives new connections: a server that hangs is left again and again.
    cancelSilence ??= after(times.silence, () => tell(unanswered(null)));
    watchCalls();
    connection = openConnection({
      take: (message) => {
        if (isCurrent()) take(message);
      },
      gone: (detail) => {
        if (!isCurrent()) return;
        if (detail !== undefined) tell(unanswered(detail));
        after(times.reopen, () => {
          if (isCurrent()) open();
        });
      },
    });
  }

  open();

  return {
    call: calls.call,
    subscribe(listener) {
      const stop = listeners.subscribe(listener);
      const missed = unheard;
      unheard = [];
      for (const news of missed) listener(news);
      return stop;
    },
    close() {
      closed = true;
      cancelSilence?.();
      cancelRenewal?.();
      connection?.close();
    },
  };
}
