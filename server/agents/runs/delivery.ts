/**
 * Delivers turns to the mind of one conversation, and asks until the mind is done. It holds the
 * conversation, the window of the model, and the tools.
 */
import { withoutDisclaimers } from '../../../src/shared/domain/demo-words.ts';
import type { MessageId } from '../../../src/shared/domain/ids.ts';
import type { Block } from '../../../src/shared/protocol/documents.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { isAway } from '../../store/index.ts';
import { WAYS } from '../../team/memory/foreign.ts';
import type { Caller } from '../../tools/index.ts';
import { isRehearsal, type RequestState, sizeOfTools, windowTokensOf } from '../minds/index.ts';
import { type AnswerOutcome, type AnswerWriter, runAnswer } from './answer.ts';
import { createBriefing } from './briefing.ts';
import { createCompactor } from './compaction.ts';
import type { Around, RunContext } from './context.ts';
import { type Conversation, createConversation, createWindow } from './conversation.ts';
import { type Item, priorityOf } from './item.ts';
import type { Life } from './life.ts';
import { messageEvent } from './message-event.ts';
import { createNotices } from './notices.ts';
import { type Interruption, RUN_BROKEN } from './outcome.ts';
import { createPermits } from './permits.ts';
import { createWatchReading } from './read-less.ts';
import { createSystemPrompt } from './system-prompt.ts';
import { type Begun, createToolbox, type OwnTools, TOOLS_CUT } from './toolbox.ts';

/* Hooks by which the owner of a speaker follows its answers and adds to them. */

export interface AnswerEnd extends AnswerOutcome {
  readonly items: readonly Item[];
  readonly blocks: readonly Block[];
  readonly hasWords: boolean;
  readonly interruption: Interruption | null;
}

/** The items of this turn from the inbox, and the events to write for them. */
export interface Gathered {
  readonly items: readonly Item[];
  readonly events: readonly RoostEvent[];
}

interface SpeakerHooks {
  onStart?(items: readonly Item[]): void;
  /** Called before the first word of each answer. Its events are written before that word. */
  onFirstWords?(): readonly RoostEvent[];
  /** Called at the end of an answer. Its events are written directly after its `message`. */
  onEnd?(end: AnswerEnd): readonly RoostEvent[];
  /** The state of its request to the mind. */
  onState?(state: RequestState): void;
  /** Items wait while an answer is under way. */
  onWaiting?(): void;
  /** Returns more items for this turn, and the events to write for them. */
  gather?(run: string): Promise<Gathered>;
  /** The first text of this turn. It starts no turn by itself; null: none. */
  note?(): Promise<string | null>;
  /**
   * Resolves when other agents' first requests have gone ahead. `signal` aborts if the turn is
   * interrupted.
   */
  letGoFirst?(signal: AbortSignal): Promise<void>;
}

/** What a speaker needs. */
export interface SpeakerDeps {
  readonly context: RunContext;
  /** Its run. The speaker reports its usage. */
  readonly life: Pick<Life, 'runId' | 'agentId' | 'cause' | 'took'>;
  /** The model of the next answer. */
  readonly model: () => string;
  /** False: an ACP agent that is the agent's own mind is not asked. */
  readonly asksOwnMind?: false;
  /** Model of the requests that follow tool results; left out: the same. */
  readonly laterModel?: string;
  readonly cachesForAnHour?: boolean;
  /**
   * Returns its system prompt. `tools`: names of the offered tools. `isShortened`: the older part
   * of the conversation is gone. Called again only if the tools changed, or after a compaction.
   */
  readonly system: (tools: ReadonlySet<string>, isShortened: boolean) => string;
  /** Texts that guide it and are no items. Tools that they name are offered at once. */
  readonly worksBy?: readonly string[];
  /** False: it is told neither the time nor the team. */
  readonly tellsAround?: false;
  /** The state that the system prompt tells; left out: the first message tells it. */
  readonly systemAround?: Around;
  readonly tools: OwnTools;
  /**
   * Whether an answer is shown before its first word. False while it is open whether there will be
   * one.
   */
  readonly announces: () => boolean;
  readonly hooks: SpeakerHooks;
}

export interface Current {
  /** What the answer is about. It may not be in the conversation yet. */
  readonly given: readonly Item[];
  readonly abort: AbortController;
  /** Aborts when a message of the person waits for the end of this answer. */
  readonly heard: AbortController;
  readonly writer: AnswerWriter;
  interruption: Interruption | null;
  /** Resolves when the answer is over and on disk. */
  readonly over: Promise<void>;
}

/** What one turn delivers to the mind. */
export interface Turn {
  items: readonly Item[];
  /** Events for messages that were taken out of the inbox for this turn. */
  read: readonly RoostEvent[];
  /** The mind has received the turn. */
  isPut: boolean;
}

const MODEL_CAME =
  '[Until now a demo played your part in this conversation: its answers were prepared sentences. From this message on a model is connected, and you think for yourself. Go on as who you are.]';

/** Tells the agent that its conversation will be compacted. */
const NEARLY_FULL =
  '[Your conversation is nearly as long as you can read at once. Soon you will be asked to summarise its older part. Note now with `remember` what must not be lost.]';

export interface Delivery {
  readonly conversation: Conversation;
  /**
   * Delivers the turn and what waits for it, and asks until the mind is done. Null: there is
   * nothing to deliver.
   */
  ask(turn: Turn, messageId: MessageId, mine: Current): Promise<AnswerOutcome | null>;
  /** Resolves when the agent is not paused any more. */
  untilResumed(signal: AbortSignal): Promise<unknown>;
  /** The next turn tells the agent this reason. */
  woken(why: string): void;
  correctSummary(messageId: MessageId, text: string): void;
  /** How many messages of the person it was given. */
  personSaid(): number;
  /** The last answer came from the demo. */
  isDemo(): boolean;
}

/** The tools to offer at once: those that the items need, and those that the texts name. */
const toolsNamedIn = (items: readonly Item[], texts: readonly string[] = []): Begun => ({
  words: [...texts, ...items.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))],
  tools: items.flatMap((item) => item.tools ?? []),
});

/** `onInboxRead`: called with items of the inbox, in a turn that brings nothing else. */
export function createDelivery(deps: SpeakerDeps, onInboxRead: (items: readonly Item[]) => void): Delivery {
  const { context, life, announces, hooks } = deps;
  const { sessionId, now, newId, limits, logger, room, record, rest, costs } = context;
  const { agentId, runId } = life;
  const permits = createPermits({ rest, costs, agentId, sessionId, runId, onError: context.fail });
  const toolbox = createToolbox({ context, agentId, own: deps.tools, untilResumed: permits.untilResumed });
  const notices = createNotices(context, life);
  const system = createSystemPrompt(deps.system);
  const briefing = createBriefing(agentId, limits.timeEveryMs, deps.tellsAround);
  const conversation = createConversation();
  const watchReading = createWatchReading();
  const mindNow = () => context.mind.current?.() ?? context.mind;
  const askedNow = () => ({ mind: mindNow(), model: deps.model(), reads: room.contextTokens });
  let current = askedNow();
  let wasDemo = false;
  let saidByPerson = 0;
  /** The model is offered no tools, as its answers report. */
  let toolless = false;
  /** The agent knows that its conversation will be compacted. */
  let isToldNear = false;
  const windowNow = () =>
    windowTokensOf(current.model, room.contextTokens, current.mind.window?.(current.model) ?? null);
  const window = createWindow({
    conversation,
    get fixed() {
      return system.text().length + (toolless ? 0 : sizeOfTools(toolbox.told()).characters);
    },
    get maxTokens() {
      return room.maxAnswerTokens;
    },
    windowTokens: windowNow(),
    limits: limits.window,
  });
  const compactor = createCompactor({
    conversation,
    window,
    limits: limits.compaction,
    get maxTokens() {
      return room.maxAnswerTokens;
    },
    newId,
    permit: (size, messageId, signal) => permits.next(size, messageId, signal),
    onSpent: (usage, cost) => life.took(usage, cost),
    underWay: async () => (await context.underWay?.(agentId)) ?? [],
    onSummary(messageId, text, compaction, usage) {
      isToldNear = false;
      system.shorten();
      return record([
        messageEvent({ time: now(), messageId, sessionId, runId, agentId, author: 'relay', text, compaction, usage }),
      ]);
    },
    onCut(why) {
      system.shorten();
      notices.shortened(why);
    },
  });

  /**
   * Chooses the mind of the next answer. Returns a note about it for the agent; null: nothing has
   * changed.
   */
  function chooseMind(): string | null {
    const before = current;
    current = askedNow();
    if (current.model !== before.model || current.reads !== before.reads) window.readsNow(windowNow());
    if (!wasDemo || isRehearsal(current.mind)) return null;
    conversation.changeAnswers(withoutDisclaimers);
    return MODEL_CAME;
  }

  /** Once before each compaction. Null: there is nothing to tell. */
  function noteOfLength(): string | null {
    const remembers = context.teamTools.all().some(({ name }) => name === 'remember');
    if (isToldNear || toolless || !remembers || !window.isNear()) return null;
    isToldNear = true;
    return NEARLY_FULL;
  }

  /** What the mind is asked in this turn, and with which tools. Null: nothing is delivered. */
  async function gather(turn: Turn, messageId: MessageId, mine: Current) {
    const items = turn.items;
    const gathered =
      mine.abort.signal.aborted || items.some(({ alone }) => alone) ? null : await hooks.gather?.(messageId);
    // Waiting messages are older than the new items.
    turn.items = [...(gathered?.items ?? []), ...items];
    turn.read = gathered?.events ?? [];
    if (turn.items.length === 0) return null;
    const note = (await hooks.note?.()) ?? null;
    const notes = [chooseMind(), note, noteOfLength()].flatMap((text) =>
      text === null ? [] : [{ messageId: null, text }],
    );
    turn.items = [...notes, ...turn.items];
    const kind = sessionId === null ? 'run' : 'session';
    const signals = { signal: mine.abort.signal, heard: mine.heard.signal };
    const caller: Caller = { agentId, sessionId, runId, run: messageId, kind, ...signals };
    const begunWith = toolsNamedIn(turn.items, deps.worksBy);
    const [offered, around] = await Promise.all([toolbox.offered(caller, begunWith), context.around()]);
    const names = offered
      .all()
      .filter(({ provider }) => !provider || current.mind.web?.(current.model))
      .map(({ name }) => name);
    if (system.offer(names) && deps.systemAround) briefing.announced(deps.systemAround, system.text());
    if (items.length === 0) onInboxRead(gathered?.items ?? []);
    for (const { way, attachments = [] } of turn.items) {
      const shown = way ?? (attachments.length > 0 ? WAYS.attachment : null);
      if (shown !== null) context.foreign.note(caller, shown);
    }
    return { caller, offered, around };
  }

  async function ask(turn: Turn, messageId: MessageId, mine: Current): Promise<AnswerOutcome | null> {
    const { writer } = mine;
    const bounds = turn.items.find((item) => item.bounds)?.bounds;
    const gathered = await gather(turn, messageId, mine);
    if (!gathered) return null;
    const { caller, offered, around } = gathered;
    const { mind, model } = current;
    let spent = 0;
    const { items, read } = turn;
    conversation.addUser(briefing.textsOf(items, around));
    saidByPerson += items.filter(({ fromPerson }) => fromPerson).length;
    turn.isPut = true;
    hooks.onStart?.(items);
    const begun = announces() ? writer.begin(read) : read.length > 0 ? record(read) : null;
    // The read messages are in the log before a mind is asked about them. After a crash in between,
    // they count as read and delivered.
    if (read.length > 0) await begun;
    const restore = conversation.mark();
    const answering = async (): Promise<AnswerOutcome> => {
      await hooks.letGoFirst?.(mine.abort.signal);
      const own = deps.asksOwnMind === false ? null : ((await mind.of?.({ agentId, sessionId, runId })) ?? null);
      wasDemo = own === null && isRehearsal(mind);
      const outcome = await runAnswer({
        mind: own ?? mind,
        model,
        laterModel: deps.laterModel ?? model,
        cachesForAnHour: deps.cachesForAnHour ?? false,
        system: system.text,
        priority: priorityOf(items),
        onState(state) {
          context.waiting.set(agentId, state.kind === 'waiting' ? state.position : null);
          hooks.onState?.(state);
        },
        onLeftOut: notices.leftOut,
        onResultsLeftOut: notices.resultsLeftOut,
        onToolless(isToolless) {
          toolless = isToolless;
          // An egg has one tool, and is asked for its name in words instead.
          if (isToolless && announces()) notices.toolless(current.model);
        },
        watchReading,
        onReadLess(of, tokens, sent) {
          // All conversations with this model are cut. One of them says so.
          if (current.mind.readsOnly?.(of, tokens) !== false) notices.readLess(of, tokens, sent);
        },
        tools: () => offered.now(),
        maxTokens: Math.min(room.maxAnswerTokens, bounds?.answerTokens ?? Infinity),
        maxTurns: bounds?.requests ?? limits.maxTurns,
        resultCharacters: limits.resultCharacters,
        unreadableTurns: limits.unreadableTurns,
        onWindow: (of, tokens) => current.mind.learn?.(of, tokens),
        conversation,
        window,
        compactor,
        writer,
        signal: mine.abort.signal,
        onSpent(usage, cost) {
          spent += cost.costMicroUsd;
          life.took(usage, cost);
        },
        runTool: (name, input) => toolbox.run(name, input, caller, offered),
        onBegun: (name, input) => toolbox.begun(name, input, caller, offered),
        permit: (size, signal) =>
          permits.next(size, messageId, signal, bounds && Math.max(0, bounds.mostMicroUsd - spent)),
      });
      conversation.closeCalls(TOOLS_CUT);
      return outcome;
    };
    return await answering().catch((error: unknown): AnswerOutcome => {
      if (isAway(error)) throw error;
      // A bug of ours fails this answer and loses nothing that was shown. Its changes to the
      // conversation are undone.
      logger.error('An answer ended because of an error in it.', { agentId, messageId, error });
      restore();
      conversation.addAnswer(writer.blocks().flatMap((block) => (block.kind === 'text' ? [block] : [])));
      return { status: 'failed', error: RUN_BROKEN, usage: null, stop: null, failure: null };
    });
  }

  return {
    conversation,
    ask,
    untilResumed: (signal) => permits.untilResumed(signal),
    woken: briefing.woken,
    correctSummary: (messageId, text) => compactor.correct(messageId, text),
    personSaid: () => saidByPerson,
    isDemo: () => wasDemo,
  };
}
