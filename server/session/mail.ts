/** Puts what waits in the inbox before an agent that is awake: after its greeting, and each message once. */
import type { SessionContext } from './context.ts';
import type { Speaker } from './speaker.ts';

export interface Mail {
  /** From now on what waits is delivered. */
  open(): void;
  /** Something was put into the inbox. */
  changed(): void;
}

export function createMail(context: SessionContext, agentId: string, speaker: () => Speaker | null): Mail {
  const { inbox, logger } = context;
  const taken = new Set<string>();
  let isOpen = false;

  async function deliver(): Promise<void> {
    const waiting = await inbox.waiting(agentId);
    const fresh = waiting.filter(({ messageId }) => !taken.has(messageId));
    for (const { messageId } of fresh) taken.add(messageId);
    speaker()?.put(fresh.map(({ messageId, text }) => ({ messageId, text, fromInbox: true })));
  }
  const changed = () => {
    if (!isOpen) return;
    deliver().catch((error: unknown) => logger.error('the inbox could not be read; what waits stays there', { agentId, error: String(error) }));
  };

  return {
    open() {
      if (isOpen) return;
      isOpen = true;
      changed();
    },
    changed,
  };
}
