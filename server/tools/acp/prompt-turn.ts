/** One prompt to a program: until it is over, stopped, silent for too long, or broken. */
import { methods, type ContentBlock, type PromptResponse } from '@agentclientprotocol/sdk';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { OpenSession } from './open-session.ts';
import type { Silence } from './silence.ts';

export interface PromptTurn {
  /** Stops it. */
  readonly signal: AbortSignal;
  readonly silence: Silence;
  /** It is told to stop: what waits of it is over. */
  readonly onStop: () => void;
  readonly timers: Pick<Timers, 'after'>;
  /** ms that it has for its stop before its process is ended. */
  readonly cancelMs: number;
}

/**
 * Rejects with a `ProgramError`; `stopped`: it did not end by itself in time, and its process was
 * ended.
 */
export async function sayPrompt(
  { line, sessionId }: Pick<OpenSession, 'line' | 'sessionId'>,
  prompt: ContentBlock[],
  { signal, silence, onStop, timers, cancelMs }: PromptTurn,
): Promise<PromptResponse | 'stopped'> {
  const asked = line.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  // Where it is not waited for any more.
  asked.catch(() => undefined);
  let cancel: () => void = () => undefined;
  let unwatch: () => void = () => undefined;
  const ended = new Promise<'stopped'>((resolve, reject) => {
    const stop = () => {
      onStop();
      void line.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => undefined);
      cancel = timers.after(cancelMs, () => {
        void line.close();
        resolve('stopped');
      });
    };
    unwatch = silence.watch((error) => {
      void line.close();
      reject(error);
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([line.answer(asked), ended]);
  } finally {
    unwatch();
    cancel();
  }
}
