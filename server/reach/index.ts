/** How agents reach each other: letters, wakes, and what happens in threads. See `Reach` in contracts.ts. */
import type { Configs, Directory, Inbox, Reach, Sleepers, SessionHost, ThreadHooks } from '../contracts.ts';
import { toolDone, toolError } from '../tool-outcome.ts';
import { createAsk, type AskDeps } from './ask.ts';
import { delivered, outcomeText } from './words.ts';

export { createReachTools } from './tools.ts';

export interface ReachDeps extends AskDeps {
  readonly inbox: Inbox;
  readonly directory: Directory;
  readonly configs: Configs;
  readonly sleepers: Sleepers;
  readonly now: () => number;
  readonly newId: () => string;
}

/** With what threads tell, and the way to begin: the host's turns are listened to from then on. */
export interface OpenReach extends Reach {
  readonly hooks: ThreadHooks;
  attach(host: SessionHost): void;
}

type Sender = Parameters<Reach['message']>[0];

export function createReach(deps: ReachDeps): OpenReach {
  const { inbox, directory, configs, sleepers, now, newId, host } = deps;
  const { ask, turnEnded } = createAsk(deps);

  async function addressee(sender: Sender, to: string) {
    const found = await directory.find(to);
    if (!found.ok) return found;
    if (found.agent.agentId === sender.agentId) return { ok: false as const, reason: 'That is you. A message goes to somebody else.' };
    return found;
  }

  const letter = (sender: Sender, to: string, text: string) => ({ messageId: newId(), to, from: sender.agentId, text, time: now(), threadId: null });

  const message: Reach['message'] = async (sender, { to, text, priority }) => {
    const found = await addressee(sender, to);
    if (!found.ok) return toolError(found.reason);
    const { agentId, name } = found.agent;
    const mail = { ...letter(sender, agentId, text), priority };
    await inbox.put(mail);
    if (priority === 'normal') return toolDone(delivered(name));
    const { decision } = await ask({ target: agentId, source: { kind: 'agent', agentId: sender.agentId }, way: 'urgent_message', reason: null, messageId: mail.messageId, callerSession: null });
    return toolDone(outcomeText(name, decision, null));
  };

  const wake: Reach['wake'] = async (sender, { to, text, reason }) => {
    const found = await addressee(sender, to);
    if (!found.ok) return toolError(found.reason);
    const { agentId, name } = found.agent;
    // The copy in the inbox is urgent, and asks for nothing by itself.
    const mail = { ...letter(sender, agentId, text), priority: 'urgent' as const };
    await inbox.put(mail);
    const callerSession = sender.sessionId ?? 'outside';
    const { decision, left } = await ask({ target: agentId, source: { kind: 'agent', agentId: sender.agentId }, way: 'wake_agent', reason, messageId: mail.messageId, callerSession });
    const told = outcomeText(name, decision, left);
    return decision.outcome === 'error' ? toolError(told) : toolDone(told);
  };

  const happened: Reach['happened'] = async (agentId, events, { by, messageId }) => {
    const { sleep_events, wake_events } = (await configs.agent(agentId)).effective.coordination;
    const wakes = wake_events.some((event) => events.includes(event));
    const sleeps = sleep_events.some((event) => events.includes(event));
    const sleeping = sleepers.isSleeping(agentId);
    if (wakes && sleeping) {
      const source = by === 'human' ? ({ kind: 'person' } as const) : ({ kind: 'agent', agentId: by } as const);
      await ask({ target: agentId, source, way: events.includes('mentioned') ? 'thread_mention' : 'thread_added', reason: null, messageId, callerSession: null });
      return;
    }
    const sessionId = host().sessionId();
    if (sleeps && !wakes && !sleeping && sessionId !== null) await sleepers.set(sessionId, agentId, true, events[0] ?? 'relay');
  };

  const hooks: ThreadHooks = {
    async added({ threadId, title, agentId, by, firstTime }) {
      const messageId = newId();
      await inbox.put({ messageId, to: agentId, from: by, text: `You were added to the thread “${title}” (${threadId}). read_thread shows what was said.`, time: now(), priority: 'normal', threadId });
      await happened(agentId, firstTime ? ['added_to_any_thread', 'added_to_thread_first_time'] : ['added_to_any_thread'], { by, messageId });
    },
    async mentioned({ threadId, title, agentId, by, messageId: said, text }) {
      const messageId = `${said}-${agentId}`;
      await inbox.put({ messageId, to: agentId, from: by, text: `You are mentioned in the thread “${title}” (${threadId}):\n${text}`, time: now(), priority: 'high', threadId });
      // Whoever is set to sleep is woken by its own list alone; whoever is awake is asked for like with an urgent message.
      if (sleepers.isSleeping(agentId)) return happened(agentId, ['mentioned'], { by, messageId });
      const source = by === 'human' ? ({ kind: 'person' } as const) : ({ kind: 'agent', agentId: by } as const);
      await ask({ target: agentId, source, way: 'thread_mention', reason: null, messageId, callerSession: null });
    },
    leftLast: ({ agentId, event }) => happened(agentId, [event], { by: 'human', messageId: null }),
  };

  return {
    message,
    wake,
    ask,
    happened,
    hooks,
    attach(attached) {
      attached.onTurnEnd((agentId) => void turnEnded(agentId));
    },
  };
}

/** The person wakes an agent, by a button or by a call to the team. */
export const personWake = (reach: Reach, agentId: string) =>
  reach.ask({ target: agentId, source: { kind: 'person' }, way: 'person', reason: null, messageId: null, callerSession: null });
