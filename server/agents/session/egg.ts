/**
 * An agent that hatches. It thinks aloud. When it has chosen a name and its turn is complete, it is
 * born, and all that it wrote is its soul. After that it lives in the session like an agent that
 * was woken.
 */
import { z } from 'zod';
import { withoutDisclaimers } from '../../../src/shared/domain/demo-words.ts';
import { checkName, sentence } from '../../../src/shared/domain/names.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { AsleepReason, EventOf, RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { SeatPayload } from '../../../src/shared/domain/wake-payload.ts';
import type { Birth } from './contract.ts';
import type { EventLog } from '../../log/index.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { defineTool, toolDone, toolError } from '../../tools/define-tool.ts';
import { createInboxReader } from '../runs/inbox-reader.ts';
import type { AnswerEnd } from '../runs/delivery.ts';
import { messageEvent } from '../runs/message-event.ts';
import { createSpeaker, type Speaker } from '../runs/speaker.ts';
import type { WakePayloads } from './wake-payloads.ts';
import {
  AGENT_TOOLS,
  CHOOSE_NAME,
  nameSchema,
  ownTools,
  type RunningCall,
  soulSchema,
  type ToolCall,
  WRITE_SOUL,
} from './tools.ts';
import { applyChange } from './changes.ts';
import type { AskFirst, SessionContext } from './context.ts';
import {
  cancelled,
  createFirstWords,
  endedItself,
  failedReason,
  namelessReason,
  outcomeOf,
  silentReason,
  unnamedReason,
} from './prompts.ts';
import { closeAfterNote } from './note-before-sleep.ts';
import type { Phase, Present } from './presence.ts';

// What an API client reads and stores of the agent that it drives: name, soul, last conversation.
// Agents driven by a mind of the relay have these as tools of their session and in their prompts.
// Changes go into the ledger through the session's log, so a session must run. A client must read
// the current soul before it can replace it.

interface SoulToolDeps {
  readonly log: Pick<EventLog, 'append'>;
  readonly wakePayloads: Pick<WakePayloads, 'human' | 'soulOf' | 'conversationOf'>;
  readonly askFirst: AskFirst;
  /** ms since the epoch */
  readonly now: () => number;
}

const NOT_HERE =
  'lives on the person’s devices, and the relay does not have it now. You can read it during a session in which you were woken: ask the person to press WAKE for you, and call this again.';
const NOBODY_KEEPS = 'No session runs, so it cannot be stored. Try again when one does.';

const mayRead = ({ credential }: Caller) => Promise.resolve(credential?.readsSoul ?? false);

export function createSoulTools({ log, wakePayloads, askFirst, now }: SoulToolDeps): readonly TeamTool[] {
  /** By credential, the soul that its client last read or wrote; null: there was none. */
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

  /** Why this caller may not replace the soul; null: it may. */
  function whyNotWrite({ agentId, credential }: Caller): string | null {
    const soul = wakePayloads.soulOf(agentId);
    if (soul === null) return null;
    const last = credential && known.get(credential.credentialId);
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
        if (caller.sessionId === null) return toolError(NOBODY_KEEPS);
        return (
          (await askFirst('choose_name', { name: checked.name }, caller)) ??
          (await keep(caller, { kind: 'rename', name: checked.name }, `Your name is ${checked.name} from now on.`))
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
        if (credential) known.set(credential.credentialId, soul);
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
        if (caller.sessionId === null) return toolError(NOBODY_KEEPS);
        const why = whyNotWrite(caller);
        if (why !== null) return toolError(why);
        const asked = await askFirst('write_soul', { text }, caller);
        if (asked) return asked;
        const kept = await keep(
          caller,
          { kind: 'soul', individuationArtifact: text },
          'Stored. You get it whenever you wake.',
        );
        if (caller.credential) known.set(caller.credential.credentialId, text);
        return kept;
      },
    }),
  ];
}

/* Finds the name in an answer of a model that uses no tools. Pure. */

/** Some models think aloud in the same text. */
const THOUGHTS = /<(think|thinking|reasoning)>[\s\S]*?(?:<\/\1>|$)/gi;
const BEFORE =
  /^(?:(?:my|the) (?:chosen )?name (?:is|shall be|will be)|name\s*[:=]|i(?:'m| am| choose| would choose|'ll be)(?: called| named)?|call me|choose_name\s*[:(]?|ich hei(?:ß|ss)e|mein name ist)\s*:?\s*/i;
const AROUND = /^[\s"'“”„‚‘’«»*_`#()[\]{}>–—:-]+|[\s"'“”„‚‘’«»*_`()[\]{}.!,;:–—-]+$/gu;
/** Most words of a name. A longer line is a sentence. */
const MOST_WORDS = 3;

/** Null: the text has no name. `human`: the person's name. */
export function nameInWords(text: string, human: string): string | null {
  const lines = text.replaceAll(THOUGHTS, '').split('\n');
  for (const line of lines) {
    const bare = line.replaceAll(AROUND, '');
    const name = bare.replace(BEFORE, '').replaceAll(AROUND, '');
    if (name === '' || name.split(/\s+/).length > MOST_WORDS || !/\p{L}/u.test(name)) continue;
    const checked = checkName(name, 'agent', human);
    if (checked.ok) return checked.name;
  }
  return null;
}

interface EggDeps {
  readonly context: SessionContext;
  readonly call: RunningCall;
  readonly agentId: AgentId;
  readonly seat: SeatPayload;
  /** The agent has left the session. */
  readonly remove: () => void;
}

export function createEgg({ context, call, agentId, seat, remove }: EggDeps): Present {
  const { sessionId, now, newId, record, timers, settings, limits, prompts } = context;
  const { position, color, colorName } = seat;
  const { birthTimeoutMs, wakeTimeoutMs } = settings;
  const silence = silentReason(wakeTimeoutMs);
  const life = context.newLife(agentId);
  let phase: Phase = 'called';
  let name: string | null = null;
  let speaker: Speaker | null = null;
  let givenUp: AsleepReason | null = null;
  let askedForWords = false;
  /** How often it was asked for its name in words, because its model uses no tools. */
  let askedForName = 0;
  /** Everything that it wrote, and its input to `write_soul`, unchanged. */
  const soul: string[] = [];
  const cancels: (() => void)[] = [];
  const firstWords = createFirstWords({
    timers,
    timeoutMs: wakeTimeoutMs,
    secondTryMs: limits.secondTryMs,
    ask,
    onSilence: () => void speaker?.interrupt({ by: 'relay', error: silence.message }),
  });
  const inbox = createInboxReader(context, life, () => speaker);

  function stopWaiting(): void {
    firstWords.stop();
    for (const cancel of cancels) cancel();
  }

  function ended(reason: AsleepReason): RoostEvent[] {
    stopWaiting();
    phase = 'leaving';
    remove();
    void speaker?.close({ by: 'person' });
    return [
      { kind: 'birth-ended', time: now(), agentId, position, sessionId, reason },
      ...life.ended(outcomeOf(reason), reason.message),
      ...call.decided(agentId, { here: false, reason }),
    ];
  }

  function born(chosen: string): RoostEvent[] {
    stopWaiting();
    phase = 'awake';
    void context.onHere(agentId);
    inbox.open();
    const time = now();
    return [
      {
        kind: 'agent-born',
        time,
        agentId,
        position,
        sessionId,
        name: chosen,
        color,
        colorName,
        soul: soul.join('\n\n'),
        bornAt: time,
      },
      ...call.decided(agentId, { here: true }),
    ];
  }

  /** Asks again, and returns the events to write. */
  function nudge(text = prompts.nudge()): RoostEvent[] {
    const messageId = newId();
    speaker?.put([{ messageId, text, priority: 'wake' }]);
    return [messageEvent({ time: now(), messageId, sessionId, runId: life.runId, agentId, author: 'relay', text })];
  }

  function onEnd(end: AnswerEnd): readonly RoostEvent[] {
    if (phase !== 'hatching') return [];
    firstWords.pause();
    const firstAnswer = soul.length === 0;
    const words = end.blocks.flatMap((block) =>
      block.kind === 'text' && block.text.trim() !== '' ? [block.text] : [],
    );
    const named = askedForName > 0 ? nameInWords(words.join('\n'), prompts.human) : null;
    name ??= named;
    // An answer that is only its name says nothing about it.
    if (named === null) soul.push(...words);
    if (givenUp) return ended(givenUp);
    const hasSoul = soul.length > 0;
    const closing = end.interruption?.by === 'closing';
    // A name and some words are enough to be born, even if the person stopped it or the session is
    // ending.
    if (name !== null && hasSoul && (endedItself(end) || end.interruption || isFull(end))) return born(name);
    if (closing) return [];
    const failed = isFull(end) ? null : firstWords.isSilent() ? silence : failedReason(end);
    if (failed && firstAnswer && firstWords.tryAgain(end.failure)) return startOver();
    if (failed) return ended(failed);
    if (name === null && hasSoul && end.toolless === true) return askForName();
    if (name === null || askedForWords) return hasSoul ? [] : ended(silentReason());
    // It has a name and no words about itself. It is asked for them once.
    askedForWords = true;
    return nudge();
  }

  /** Its model uses no tools, so it gives its name in words. */
  function askForName(): RoostEvent[] {
    askedForName += 1;
    return askedForName > limits.namesAsked ? ended(namelessReason) : nudge(prompts.nameInWords());
  }

  /**
   * Starts over. The words of the last try stay in its old conversation and not in its soul.
   */
  function startOver(): RoostEvent[] {
    name = null;
    askedForName = 0;
    soul.length = 0;
    void speaker?.close({ by: 'person' });
    return [];
  }

  async function giveUp(reason: AsleepReason): Promise<void> {
    givenUp ??= reason;
    await speaker?.interrupt({ by: 'relay', error: reason.message });
    // The egg was quiet, or its answer was over and has only now reached the disk.
    if (phase === 'hatching') await record(ended(givenUp));
  }

  /** The timers start with the first request that is sent. Time in the queue does not count. */
  function startTimers(): void {
    if (cancels.length > 0) return;
    for (const part of limits.nudgesAt)
      cancels.push(
        timers.after(birthTimeoutMs * part, () => {
          if (phase === 'hatching' && name === null && !speaker?.busy()) void record(nudge());
        }),
      );
    cancels.push(
      timers.after(birthTimeoutMs, () => {
        // An egg with a name is only still writing.
        if (name === null) void giveUp(unnamedReason(birthTimeoutMs));
      }),
      timers.after(birthTimeoutMs * limits.writesUntil, () => {
        if (phase === 'hatching') void speaker?.interrupt({ by: 'relay', error: WROTE_TOO_LONG });
      }),
    );
  }

  async function runTool(toolCall: ToolCall, answer: string, signal: AbortSignal): Promise<ToolOutcome> {
    if (phase !== 'hatching' || toolCall.tool === 'spawn_team') {
      const outcome = await applyChange(context, life, toolCall, { answer, signal });
      if (toolCall.tool === 'choose_name' && !outcome.asks) name = toolCall.input.name;
      return outcome;
    }
    if (toolCall.tool === 'choose_name') name = toolCall.input.name;
    if (toolCall.tool === 'choose_name') return toolDone(`Your name is ${toolCall.input.name}.`);
    soul.push(toolCall.input.text);
    return toolDone('Stored. It is part of your soul.');
  }

  // An agent without a name needs no other tool, and small models have no room for them.
  const own = ownTools(AGENT_TOOLS, prompts.human, runTool);

  /** Starts a try. Each try is a separate conversation. */
  function ask(): void {
    speaker = createSpeaker({
      context,
      life,
      model: context.models.agent,
      // The newborn's first answer is its soul, until that answer becomes part of a summary.
      system: (tools, isShortened) =>
        prompts.agentSystem(
          { name: isShortened ? name : null, colorName, position },
          isShortened ? (context.wakePayloads.soulOf(agentId) ?? null) : null,
          tools,
        ),
      tools: {
        ...own,
        toldAlone: () => (phase === 'hatching' ? [CHOOSE_NAME] : null),
      },
      // An egg that never says a word leaves no trace in the ledger.
      announces: () => phase === 'awake',
      hooks: {
        onState(state) {
          if (phase !== 'hatching') return;
          call.asked(agentId);
          if (state.kind === 'sent') startTimers();
          firstWords.onState(state);
        },
        onFirstWords() {
          firstWords.heard();
          return [];
        },
        onEnd,
        gather: (run) => inbox.take(run),
      },
    });
    speaker.put([{ messageId: null, text: (around) => prompts.birth(agentId, seat, around), priority: 'wake' }]);
  }

  const birth: Birth = {
    tools: AGENT_TOOLS.map((tool) => tool.name),
    call: async (tool, input) => await own.run(tool, input, NEVER, ''),
  };

  return {
    agentId,
    position,
    life,
    phase: () => phase,
    name: () => name,
    speaker: () => speaker,
    birth: () => (phase === 'hatching' ? birth : null),
    begin() {
      phase = 'hatching';
      firstWords.ask();
    },
    abandon() {
      stopWaiting();
      phase = 'leaving';
      remove();
      void speaker?.close({ by: 'person' });
    },
    stop() {
      if (phase === 'hatching' && firstWords.isBetweenTries()) void giveUp(cancelled);
      else if (speaker?.busy()) void speaker.interrupt({ by: 'person' });
      else return false;
      return true;
    },
    async close(why) {
      stopWaiting();
      await speaker?.close(why);
    },
    async leave(reason) {
      if (phase === 'hatching') await giveUp(reason);
      if (phase !== 'awake') return;
      phase = 'leaving';
      await closeAfterNote(context, agentId, speaker);
      remove();
      await record([
        { kind: 'agent-asleep', time: now(), agentId, position, sessionId, reason },
        ...life.ended(outcomeOf(reason), reason.message),
      ]);
    },
    inboxChanged: () => inbox.changed(),
  };
}

/** A tool of the birth ends at once and cannot be stopped. */
const NEVER = new AbortController().signal;
const WROTE_TOO_LONG = sentence`It wrote for too long without coming to an end. What it wrote until then is its soul.`;

/** The egg reached the limit of one answer. Its text is long enough for a soul. */
const isFull = (end: AnswerEnd) => end.status === 'interrupted' && end.stop === 'length';
