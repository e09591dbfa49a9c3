/**
 * What an API client reads and stores of the agent that it drives: name, soul, last conversation.
 * Agents driven by a mind of the relay have these as tools of their session and in their prompts.
 * Changes go into the ledger through the session's log, so a session must run. A client must read
 * the current soul before it can replace it.
 */
import { z } from 'zod';
import { withoutDisclaimers } from '../../../src/shared/domain/demo-words.ts';
import { checkName } from '../../../src/shared/domain/names.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { EventLog } from '../../log/index.ts';
import type { Caller, TeamTool } from '../../tools/index.ts';
import { defineTool, toolDone, toolError } from '../../tools/define-tool.ts';
import { type Change, NO_SESSION, storeChange } from './changes.ts';
import type { AskFirst } from './context.ts';
import { CHOOSE_NAME, nameSchema, soulSchema, WRITE_SOUL } from './tools.ts';
import type { WakePayloads } from './wake-payloads.ts';

interface SoulToolDeps {
  readonly log: Pick<EventLog, 'append'>;
  readonly wakePayloads: Pick<WakePayloads, 'human' | 'soulOf' | 'conversationOf'>;
  readonly askFirst: AskFirst;
  /** ms since the epoch */
  readonly now: () => number;
}

const NOT_HERE =
  'lives on the person’s devices, and the relay does not have it now. You can read it during a session in which you were woken: ask the person to press WAKE for you, and call this again.';

const mayRead = ({ credential }: Caller) => Promise.resolve(credential?.readsSoul ?? false);

export function createSoulTools({ log, wakePayloads, askFirst, now }: SoulToolDeps): readonly TeamTool[] {
  /** By credential, the soul that its client last read or wrote; null: there was none. */
  const souls = new Map<string, string | null>();

  const store = (caller: Caller, change: Change) => storeChange({ log, now }, caller, change);

  /** Why this caller may not replace the soul; null: it may. */
  function whyNotWrite({ agentId, credential }: Caller): string | null {
    const soul = wakePayloads.soulOf(agentId);
    if (soul === null) return null;
    const last = credential && souls.get(credential.credentialId);
    if (last === undefined)
      return 'You have not read your soul, and this would replace it. Nothing was stored. Call read_soul first. Then write the soul, with everything that should stay.';
    return soul === undefined || last === soul
      ? null
      : 'Your soul was rewritten since you read it. Nothing was stored. Call read_soul again. Then write the soul, with everything that should stay.';
  }

  return [
    defineTool({
      name: CHOOSE_NAME.name,
      description: CHOOSE_NAME.description,
      input: z.object({ name: nameSchema }),
      async run({ name: wanted }, caller) {
        const checked = checkName(wanted, 'agent', wakePayloads.human());
        if (!checked.ok) return toolError(checked.reason);
        if (caller.sessionId === null) return toolError(NO_SESSION);
        return (
          (await askFirst('choose_name', { name: checked.name }, caller)) ??
          (await store(caller, { kind: 'rename', name: checked.name }))
        );
      },
    }),
    defineTool({
      name: 'read_soul',
      description:
        'Reads your soul as it is now: who you are, in your own words. The relay has it only during a session in which you were woken.',
      input: z.object({}),
      readOnly: true,
      allowed: mayRead,
      run(_input, { agentId, credential }) {
        const soul = wakePayloads.soulOf(agentId);
        if (soul === undefined) return Promise.resolve(toolError(`Your soul ${NOT_HERE}`));
        if (credential) souls.set(credential.credentialId, soul);
        return Promise.resolve(
          toolDone(
            soul === null
              ? 'You have no soul yet. write_soul stores one.'
              : writeSaid({ head: 'Your soul:', text: withoutDisclaimers(soul) }),
          ),
        );
      },
    }),
    defineTool({
      name: 'read_last_conversation',
      description:
        'Reads what a wake gives you: your last conversations with the person, and messages to you and from you in this session since. The relay has it only during a session in which you were woken.',
      input: z.object({}),
      readOnly: true,
      allowed: mayRead,
      async run(_input, { agentId }) {
        const conversation = await wakePayloads.conversationOf(agentId);
        if (conversation === null) return toolError(`Your last conversation ${NOT_HERE}`);
        return toolDone(conversation === '' ? 'You have had no conversation yet.' : withoutDisclaimers(conversation));
      },
    }),
    defineTool({
      name: WRITE_SOUL.name,
      description: `${WRITE_SOUL.description} Call read_soul first: what you leave out is gone from it.`,
      input: z.object({ text: soulSchema }),
      allowed: mayRead,
      async run({ text }, caller) {
        if (caller.sessionId === null) return toolError(NO_SESSION);
        const why = whyNotWrite(caller);
        if (why !== null) return toolError(why);
        const permission = await askFirst('write_soul', { text }, caller);
        if (permission) return permission;
        const kept = await store(caller, { kind: 'soul', individuationArtifact: text });
        if (caller.credential) souls.set(caller.credential.credentialId, text);
        return kept;
      },
    }),
  ];
}
