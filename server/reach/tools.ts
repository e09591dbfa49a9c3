/** What every agent can do to reach others, and to be left alone. Descriptions are read by models. */
import { z } from 'zod';
import { MAIL_PRIORITIES, WAKE_REASONS } from '../../src/domain/guardrails.ts';
import { LEAD_ID, seatNumber } from '../../src/domain/seat.ts';
import type { RoostEvent } from '../../src/protocol/events.ts';
import { LIMITS } from '../../src/protocol/limits.ts';
import type { Caller, Configs, Directory, Gate, Inbox, Reach, SessionHost, Sleepers, TeamTool } from '../contracts.ts';
import { defineTool } from '../define-tool.ts';
import { toolDone, toolError } from '../tool-outcome.ts';

export interface ReachToolDeps {
  readonly reach: Reach;
  readonly inbox: Inbox;
  readonly gate: Gate;
  readonly configs: Configs;
  readonly directory: Directory;
  readonly sleepers: Sleepers;
  readonly host: () => SessionHost;
  readonly now: () => number;
  /** The person's own messages stand in a conversation as waiting: it hears that they were read. */
  readonly tell: (event: RoostEvent) => void;
}

const to = z.string().min(1).max(LIMITS.id).describe('whom: a name, a seat number, or an id');
const text = z.string().trim().min(1).max(LIMITS.letterText, `a message to another agent has at most ${LIMITS.letterText} characters`);

export function createReachTools({ reach, inbox, gate, configs, directory, sleepers, host, now, tell }: ReachToolDeps): readonly TeamTool[] {
  const mayPutOthersToSleep = async ({ agentId }: Caller) => (await configs.agent(agentId)).effective.coordination.may_put_others_to_sleep;

  async function setSleeping(agentId: string, caller: Caller) {
    if (caller.sessionId === null) return toolError('No session runs: everyone sleeps already.');
    const set = await sleepers.set(caller.sessionId, agentId, true, caller.agentId);
    return set === null ? toolError('It is not in the running session, so there is nobody to put to sleep.') : null;
  }

  return [
    defineTool({
      name: 'message_agent',
      description:
        'Leaves a message in another agent’s inbox. Use this for almost everything: news, results, questions that can wait. It costs nothing; the other reads it at its next turn. Priority high or urgent also asks for the other to be woken, within its limits.',
      input: z.object({ to, message: text, priority: z.enum(MAIL_PRIORITIES).default('normal') }),
      run: (input, caller) => reach.message(caller, { to: input.to, text: input.message, priority: input.priority }),
    }),
    defineTool({
      name: 'wake_agent',
      description:
        'Leaves a message and asks for the other agent to be woken for it now, which costs a model run and is limited. Only for what cannot wait; otherwise use message_agent. The answer says what became of it.',
      input: z.object({ to, message: text, reason: z.enum(WAKE_REASONS).describe('why it cannot wait') }),
      run: (input, caller) => reach.wake(caller, { to: input.to, text: input.message, reason: input.reason }),
    }),
    defineTool({
      name: 'read_inbox',
      description: 'Gives you the messages that wait for you, oldest first. Each is given once.',
      input: z.object({}),
      async run(_input, caller) {
        const waiting = await inbox.waiting(caller.agentId);
        // What a client reads leaves no trace in the session's log, so it is not looked for there after a crash.
        const sessionId = caller.kind === 'session' ? caller.sessionId : null;
        const taken = await inbox.claim(waiting.map(({ messageId }) => messageId), { sessionId, run: caller.run, time: now() });
        if (caller.signal.aborted) {
          // Nobody is there to read them.
          await inbox.giveBack(taken.map(({ messageId }) => messageId));
          return toolError('The call was given up before anything was read.');
        }
        for (const { messageId, from } of taken)
          if (from === 'human') tell({ kind: 'message-read', time: now(), messageId, agentId: caller.agentId, sessionId: caller.sessionId ?? caller.run });
        const team = await directory.all();
        const nameOf = (id: string) => (id === 'human' ? 'the human' : (team.find((member) => member.agentId === id)?.name ?? id));
        const lines = taken.map((mail) => `From ${nameOf(mail.from)} at ${new Date(mail.time).toISOString()}${mail.priority === 'normal' ? '' : `, ${mail.priority}`}:\n${mail.text}`);
        return toolDone(lines.length === 0 ? 'Nothing waits for you.' : lines.join('\n\n'));
      },
    }),
    defineTool({
      name: 'list_team',
      description: 'Says who is on the team, in which seats, and who is awake.',
      input: z.object({}),
      readOnly: true,
      async run(_input, caller) {
        const members = (await directory.all()).filter((member) => !member.retired);
        const line = ({ agentId, name, position }: (typeof members)[number]) =>
          `- ${name}${agentId === caller.agentId ? ' (you)' : ''}${agentId === LEAD_ID ? ', the lead' : position === null ? '' : `, seat ${seatNumber(position)}`}: ${host().stateOf(agentId) === 'absent' ? 'not in this session' : host().stateOf(agentId)}; id ${agentId}`;
        return toolDone(members.map(line).join('\n'));
      },
    }),
    defineTool({
      name: 'wake_limits',
      description: 'Says how often an agent can still be woken today, and when the next wake would pass. Left out: yourself.',
      input: z.object({ agent: to.optional() }),
      readOnly: true,
      async run(input, caller) {
        const found = input.agent === undefined ? null : await directory.find(input.agent);
        if (found && !found.ok) return toolError(found.reason);
        return toolDone(JSON.stringify(await gate.stats(found ? found.agent.agentId : caller.agentId)));
      },
    }),
    defineTool({
      name: 'go_to_sleep',
      description: 'Sets you to sleep from the end of this call on: nothing is asked of you, and nothing is lost, until somebody wakes you.',
      input: z.object({}),
      run: async (_input, caller) => (await setSleeping(caller.agentId, caller)) ?? toolDone('You are asleep from now on. What is sent to you waits.'),
    }),
    defineTool({
      name: 'put_to_sleep',
      description: 'Sets another agent to sleep to save its tokens. A call of its that is under way finishes; what is sent to it waits.',
      input: z.object({ agent: to }),
      allowed: mayPutOthersToSleep,
      async run(input, caller) {
        const found = await directory.find(input.agent);
        if (!found.ok) return toolError(found.reason);
        return (await setSleeping(found.agent.agentId, caller)) ?? toolDone(`${found.agent.name} is asleep.`);
      },
    }),
  ];
}
