/** The owner's worker as its debugger sees it. */
import type { BrowserContext, CDPSession } from 'playwright-core';
import { z } from 'zod';

const messageSchema = z.object({
  id: z.number().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

export interface OwnerTarget {
  /** Of the browser. */
  readonly session: CDPSession;
  /**
   * A method of the Chrome DevTools Protocol, to the worker; rejects with what the browser says.
   */
  call(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
  close(): Promise<void>;
}

/** Calls to a target that is not a page, which the driver knows only as messages. */
async function attach(session: CDPSession, targetId: string): Promise<Pick<OwnerTarget, 'call'>> {
  const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: false });
  let next = 0;
  return {
    call(method, params = {}) {
      const id = ++next;
      return new Promise((resolve, reject) => {
        const listen = (event: { sessionId: string; message: string }) => {
          if (event.sessionId !== sessionId) return;
          const message = messageSchema.parse(JSON.parse(event.message));
          if (message.id !== id) return;
          session.off('Target.receivedMessageFromTarget', listen);
          if (message.error === undefined) resolve(message.result);
          else reject(new Error(`${method}: ${JSON.stringify(message.error)}`));
        };
        session.on('Target.receivedMessageFromTarget', listen);
        session
          .send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method, params }) })
          .catch(reject);
      });
    },
  };
}

export async function openOwnerTarget(context: BrowserContext): Promise<OwnerTarget> {
  const session = await context.browser()?.newBrowserCDPSession();
  if (!session) throw new Error('The browser cannot be reached.');
  const { targetInfos } = await session.send('Target.getTargets');
  const owner = targetInfos.find(({ type }) => type === 'shared_worker');
  if (!owner) throw new Error('There is no owner.');
  return { session, ...(await attach(session, owner.targetId)), close: () => session.detach() };
}
