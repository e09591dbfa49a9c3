/**
 * What a client reads and keeps of the agent in whose seat it is: its name, its soul, its last
 * conversation. Agents with a mind of the relay's have theirs as tools of their session and in
 * their prompts. What is kept goes into the ledger by the session's log, so a session has to run.
 * Nobody writes a soul anew without having read the one that stands.
 */
import { withoutDisclaimers } from '../../../src/shared/domain/demo-words.ts';
import { z } from 'zod';
import { checkName } from '../../../src/shared/domain/names.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { EventOf } from '../../../src/shared/protocol/events.ts';
import type { Caller, EventLog, TeamTool, ToolOutcome } from '../../contracts/index.ts';
import { defineTool, toolDone, toolError } from '../../contracts/define-tool.ts';
import type { WakeMaterials } from './wake-materials.ts';
import { CHOOSE_NAME, nameSchema, soulSchema, WRITE_SOUL } from './tools.ts';

export interface SoulToolDeps {
  readonly log: Pick<EventLog, 'append'>;
  readonly wakeMaterials: Pick<WakeMaterials, 'human' | 'soulOf' | 'conversationOf'>;
  /** ms since the epoch */
  readonly now: () => number;
}

const NOT_HERE =
  'lives on the person’s devices, and the relay does not have it now. It can be read while a session runs in which you were woken: ask the person to press WAKE for you, and call this again.';
const NOBODY_KEEPS = 'No session runs, so there is nobody to keep it. Try again when one does.';

const mayRead = ({ credential }: Caller) => Promise.resolve(credential?.readsSoul ?? false);

export function createSoulTools({ log, wakeMaterials, now }: SoulToolDeps): readonly TeamTool[] {
  /** By credential, the soul that it has read or written last; null: there was none. */
  const known = new Map<string, string | null>();

  async function keep(
    { agentId, sessionId }: Caller,
    change: EventOf<'agent-changed'>['change'],
    done: string,
  ): Promise<ToolOutcome> {
    if (sessionId === null) return toolError(NOBODY_KEEPS);
    await log.append([{ kind: 'agent-changed', time: now(), agentId, sessionId, change }]);
    return toolDone(done);
  }

  /** Why this caller may not write the soul anew; null: it may. */
  function whyNotWrite({ agentId, credential }: Caller): string | null {
    const soul = wakeMaterials.soulOf(agentId);
    if (soul === null) return null;
    const last = credential && known.get(credential.credentialId);
    if (last === undefined)
      return 'You have not read your soul, and this would replace it. Nothing was kept. Call read_soul first; then write it, with what is to stay.';
    return soul === undefined || last === soul
      ? null
      : 'Your soul was written anew since you read it. Nothing was kept. Call read_soul again; then write it, with what is to stay.';
  }

  return [
    defineTool({
      name: CHOOSE_NAME.name,
      description: CHOOSE_NAME.description,
      input: z.object({ name: nameSchema }),
      run({ name: wanted }, caller) {
        const checked = checkName(wanted, 'agent', wakeMaterials.human());
        if (!checked.ok) return Promise.resolve(toolError(checked.reason));
        return keep(caller, { kind: 'rename', name: checked.name }, `Your name is ${checked.name} from now on.`);
      },
    }),
    defineTool({
      name: 'read_soul',
      description:
        'Reads your soul: who you are, in your own words, as it stands. The relay has it while a session runs in which you were woken.',
      input: z.object({}),
      readOnly: true,
      allowed: mayRead,
      run(_input, { agentId, credential }) {
        const soul = wakeMaterials.soulOf(agentId);
        if (soul === undefined) return Promise.resolve(toolError(`Your soul ${NOT_HERE}`));
        if (credential) known.set(credential.credentialId, soul);
        return Promise.resolve(
          toolDone(
            soul === null
              ? 'You have no soul yet. write_soul keeps one.'
              : writeSaid({ head: 'Your soul:', text: withoutDisclaimers(soul) }),
          ),
        );
      },
    }),
    defineTool({
      name: 'read_last_conversation',
      description:
        'Reads what you are given when you wake: your last conversations with the person, and what was said to you and by you in this session since. The relay has it while a session runs in which you were woken.',
      input: z.object({}),
      readOnly: true,
      allowed: mayRead,
      async run(_input, { agentId }) {
        const conversation = await wakeMaterials.conversationOf(agentId);
        if (conversation === null) return toolError(`Your last conversation ${NOT_HERE}`);
        return toolDone(conversation === '' ? 'You have had no conversation yet.' : withoutDisclaimers(conversation));
      },
    }),
    defineTool({
      name: WRITE_SOUL.name,
      description: `${WRITE_SOUL.description} Call read_soul first: what you leave out is not in it any more.`,
      input: z.object({ text: soulSchema }),
      allowed: mayRead,
      async run({ text }, caller) {
        if (caller.sessionId === null) return toolError(NOBODY_KEEPS);
        const why = whyNotWrite(caller);
        if (why !== null) return toolError(why);
        const kept = await keep(
          caller,
          { kind: 'soul', individuationArtifact: text },
          'Kept. You will be given it whenever you wake.',
        );
        if (caller.credential) known.set(caller.credential.credentialId, text);
        return kept;
      },
    }),
  ];
}
