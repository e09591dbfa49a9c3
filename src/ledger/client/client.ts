/**
 * A tab's side of the line to the owner. A call is answered once and repeated, with its id, on every new
 * line until it is; so whatever the line or the owner goes through, a call that was made is answered.
 */
import type { After } from '../../domain/platform/timers.ts';
import type { FromOwner, OwnerCallName, OwnerCalls, OwnerNews, ToOwner } from '../../protocol/worker.ts';
import { OWNER_LINE } from '../settings.ts';

/** One line to an owner. */
export interface Line {
  send(message: ToOwner): void;
  close(): void;
}

export interface LineEnds {
  /** What the owner says. */
  take(message: FromOwner): void;
  /** The line broke. `detail` says why, where that is known. */
  gone(detail?: string): void;
}

export interface OwnerClient {
  /**
   * Resolves with the owner's answer. Rejects with an Error whose message people can read: a refused write
   * (`StorageProblemError`), or a document that does not fit.
   */
  call<Name extends OwnerCallName>(
    name: Name,
    ...args: Parameters<OwnerCalls[Name]>
  ): Promise<ReturnType<OwnerCalls[Name]>>;
  /**
   * Everything the owner says, in order; the first is `welcome`, kept for the first listener. A further
   * `welcome` means a new line: what was known of the relay's state is replaced by it. Returns the way to stop.
   */
  subscribe(listener: (news: OwnerNews) => void): () => void;
  close(): void;
}

export interface ClientDeps {
  readonly openLine: (ends: LineEnds) => Line;
  readonly newId: () => string;
  readonly after: After;
}

interface Open {
  readonly message: Extract<ToOwner, { readonly id: string }>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

const NO_OWNER = 'The page’s background worker does not answer. Reload the page; nothing that was stored is lost.';

export function createOwnerClient({ openLine, newId, after }: ClientDeps): OwnerClient {
  const calls = new Map<string, Open>();
  const listeners = new Set<(news: OwnerNews) => void>();
  let unheard: OwnerNews[] = [];
  let line: Line | null = null;
  let lineNumber = 0;
  let cancelSilence: (() => void) | null = null;
  let cancelRenewal: (() => void) | null = null;
  /** Has the owner said anything since we began to wait? */
  let heard = false;
  let closed = false;

  function tell(news: OwnerNews) {
    if (listeners.size === 0) unheard.push(news);
    for (const listener of listeners) listener(news);
  }

  const noOwner = (detail: string) => tell({ news: 'problem', problem: { kind: 'no-owner', detail } });

  /** The owner may have ended without a word, and a call may take long: only one who does not answer at all is left. */
  function watchCalls() {
    cancelRenewal?.();
    cancelRenewal = null;
    if (calls.size === 0 || closed) return;
    heard = false;
    cancelRenewal = after(OWNER_LINE.renew, () => {
      if (heard || calls.size === 0) {
        watchCalls();
        return;
      }
      line?.send({ ping: true });
      cancelRenewal = after(OWNER_LINE.renew, () => (heard ? watchCalls() : open()));
    });
  }

  function take(message: FromOwner) {
    heard = true;
    if ('pong' in message) return;
    if ('news' in message) {
      cancelSilence?.();
      cancelSilence = null;
      if (message.news === 'welcome') {
        for (const call of calls.values()) line?.send(call.message);
      }
      tell(message);
      return;
    }
    const call = calls.get(message.reply);
    if (!call) return;
    calls.delete(message.reply);
    if (message.ok) call.resolve(message.value);
    else call.reject(Object.assign(new Error(message.error.message), { name: message.error.name }));
  }

  function open() {
    const number = ++lineNumber;
    const isCurrent = () => number === lineNumber && !closed;
    line?.close();
    // Not begun anew with every line: an owner that hangs is left again and again.
    cancelSilence ??= after(OWNER_LINE.silence, () => noOwner(NO_OWNER));
    watchCalls();
    line = openLine({
      take: (message) => {
        if (isCurrent()) take(message);
      },
      gone: (detail) => {
        if (!isCurrent()) return;
        if (detail !== undefined) noOwner(`${NO_OWNER} (${detail})`);
        after(OWNER_LINE.reopen, () => {
          if (isCurrent()) open();
        });
      },
    });
  }

  open();

  return {
    call<Name extends OwnerCallName>(name: Name, ...args: Parameters<OwnerCalls[Name]>) {
      return new Promise<ReturnType<OwnerCalls[Name]>>((resolve, reject) => {
        const message = { call: name, id: newId(), args };
        // Owner and tab are built together from one OwnerCalls; the answer to `name` is of its type.
        calls.set(message.id, { message, resolve: (value) => resolve(value as ReturnType<OwnerCalls[Name]>), reject });
        line?.send(message);
        if (!cancelRenewal) watchCalls();
      });
    },
    subscribe(listener) {
      listeners.add(listener);
      const missed = unheard;
      unheard = [];
      for (const news of missed) listener(news);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      cancelSilence?.();
      cancelRenewal?.();
      line?.close();
    },
  };
}
