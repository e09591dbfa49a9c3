/**
 * The speaker: one conversation of the lead or of an agent, in a session or in a run outside it. It
 * gives one answer at a time. Items that arrive in the meantime wait in order and are delivered
 * together, except a call to the team, which is delivered alone.
 */
import type { EventOf, RoostEvent } from '../../../src/shared/protocol/events.ts';
import { withoutDisclaimers } from '../../../src/shared/domain/demo-words.ts';
import type { AgentId, MessageId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { Block, Compaction, Usage } from '../../../src/shared/protocol/documents.ts';
import { WAYS } from '../../team/memory/foreign.ts';
import type { Caller } from '../../tools/index.ts';
import { isAway } from '../../store/index.ts';
import { isRehearsal, type MindTool, type RequestState, sizeOfTools, windowTokensOf } from '../minds/index.ts';
import { type AnswerDeps, type AnswerOutcome, type AnswerWriter, createAnswerWriter, runAnswer } from './answer.ts';
import { createCompactor } from './compaction.ts';
import { createConversation, createWindow, type UserText } from './conversation.ts';
import { createWatchReading } from './read-less.ts';
import { DATABASE_BROKE, type Interruption, RUN_BROKEN, statusOf } from './outcome.ts';
import { countTogether, type Item, priorityOf } from './item.ts';
import { createPermits } from './permits.ts';
import { type Begun, createToolbox, type OwnTools, TOOLS_CUT } from './toolbox.ts';
import { type Around, createNews, type RunContext } from './context.ts';
import type { Life } from './life.ts';

// Events of messages that were written neither by the person on the page nor by a mind in an
// answer: the relay's own, those of other agents, and those that an agent leaves for the person.

interface MessageFields extends Pick<
  EventOf<'message'>,
  'time' | 'messageId' | 'sessionId' | 'runId' | 'agentId' | 'author'
> {
  readonly text: string;
  /** Left out: the message is for the agent. `assistant`: the agent says it. */
  readonly role?: 'user' | 'assistant';
  /** The message is a summary of what was said before. */
  readonly compaction?: Compaction;
  readonly usage?: Usage | null;
}

/** The event of a whole message that `author` adds to the conversation of `agentId`. */
export const messageEvent = ({
  time,
  messageId,
  sessionId,
  runId,
  agentId,
  author,
  text,
  role = 'user',
  compaction,
  usage = null,
}: MessageFields): EventOf<'message'> => ({
  kind: 'message',
  time,
  messageId,
  sessionId,
  ...(runId === undefined ? {} : { runId }),
  agentId,
  author,
  role,
  blocks: [{ kind: 'text', text }],
  status: 'complete',
  error: null,
  usage,
  clientId: null,
  replaces: null,
  waiting: false,
  ...(compaction === undefined ? {} : { compaction }),
});

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
interface SpeakerDeps {
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

/*
 * The briefing: what a mind is told besides its messages. That is the current state, its changes,
 * and why the agent was woken.
 */

interface Briefing {
  /** The system prompt tells this state. */
  announced(around: Around, system: string): void;
  /** The next turn tells the agent this reason. */
  woken(why: string): void;
  /**
   * The texts in order: the prompts, changes of the state, who woke the agent, and the messages.
   */
  textsOf(items: readonly Item[], around: Around): UserText[];
}

const NO_NEWS: ReturnType<typeof createNews> = { announced: () => undefined, since: () => [] };

/** `timeEveryMs`: the agent is told the time again after this long. */
function createBriefing(agentId: AgentId, timeEveryMs: number, tellsAround = true): Briefing {
  const news = tellsAround ? createNews(agentId, timeEveryMs) : NO_NEWS;
  const woken: string[] = [];
  return {
    announced: (around, system) => news.announced(around, system),
    woken: (why) => void woken.push(why),
    textsOf(items, around) {
      const prompts = items.flatMap(({ messageId, text }) =>
        typeof text === 'string' ? [] : [{ messageId, ...text(around) }],
      );
      if (prompts.length > 0) news.announced(around, prompts.map(({ text }) => text).join('\n'));
      const notes = [...news.since(around), ...woken.splice(0)].map((text) => ({ messageId: null, text }));
      return [...prompts, ...notes, ...saidIn(items)];
    },
  };
}

/** The messages, without the prompts. */
const saidIn = (items: readonly Item[]): UserText[] =>
  items.flatMap(({ messageId, text, attachments = [] }) =>
    typeof text === 'string' ? [{ messageId, text, attachments }] : [],
  );

export interface Speaker {
  /** Adds items. A quiet speaker starts in the same tick. */
  put(items: readonly Item[]): void;
  /** Starts a turn if there is anything to gather. The turn tells the agent `why`. */
  prod(why?: string): void;
  /** Resolves when the speaker is quiet. */
  whenQuiet(): Promise<void>;
  /**
   * Whether a message of the person waits, is being answered, or is in the mind's conversation.
   * Then another can replace it.
   */
  holds(messageId: MessageId): boolean;
  /** Withdraws one waiting message of the person, and no others. False: it does not wait. */
  withdraw(messageId: MessageId): boolean;
  /**
   * Withdraws a message and everything that the person wrote after it. None of it waits any more,
   * and the current answer is stopped, on disk.
   */
  withdrawFrom(messageId: MessageId): Promise<void>;
  /** The person has corrected this summary. The conversation goes on by it if it has it. */
  correctSummary(messageId: MessageId, text: string): void;
  /** The person has called the team. Their earlier messages cannot be withdrawn any more. */
  settle(): void;
  /** An answer is under way, even if it has no words yet. */
  busy(): boolean;
  /** Characters of its conversation, without the system prompt. */
  size(): number;
  /**
   * Ends the current answer, and resolves when that is on disk. Waiting items are delivered next.
   */
  interrupt(why: Interruption): Promise<void>;
  /** As `interrupt`. Nothing is delivered or said afterwards. */
  close(why: Interruption): Promise<void>;
  /**
   * As `close`, but this item is answered before. The answer ends after `limitMs` in any case.
   */
  closeAfter(last: Item, limitMs: number, why: Interruption): Promise<void>;
  /** How many messages of the person it was given. */
  personSaid(): number;
  /** Its last answer came from the demo. */
  isDemo(): boolean;
}

interface Current {
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
interface Turn {
  items: readonly Item[];
  /** Events for messages that were taken out of the inbox for this turn. */
  read: readonly RoostEvent[];
  /** The mind has received the turn. */
  isPut: boolean;
}

const MODEL_CAME =
  '[Until now a demo played your part in this conversation: its answers were prepared sentences. From this message on a model is connected, and you think for yourself. Go on as who you are.]';

const SHORTENED = sentence`This conversation is too long for the model. The model now gets only the newest part. The page still has all of it.`;
const unsummarised = (why: string) =>
  sentence`This conversation is too long for the model. The model now gets only the newest part. The page still has all of it. Roost could not summarise it: ${why}`;

const RESULTS_LEFT_OUT = sentence`The model’s server refused what a tool returned. It was left out, and everything else was read.`;

/** Tells the agent that its conversation will be compacted. */
const NEARLY_FULL =
  '[Your conversation is nearly as long as you can read at once. Soon you will be asked to summarise its older part. Note now with `remember` what must not be lost.]';

export function createSpeaker(deps: SpeakerDeps): Speaker {
  const { context, life, tools, announces, hooks } = deps;
  const { sessionId, now, newId, limits, logger, room, record, rest, costs } = context;
  const { agentId, runId } = life;
  const permits = createPermits({ rest, costs, agentId, sessionId, runId, onError: context.fail });
  const toolbox = createToolbox({
    context,
    agentId,
    own: tools,
    untilResumed: permits.untilResumed,
  });
  const mindNow = () => context.mind.current?.() ?? context.mind;
  const askedNow = () => ({ mind: mindNow(), model: deps.model(), reads: room.contextTokens });
  let asked = askedNow();
  let wasDemo = false;
  let saidByPerson = 0;
  const briefing = createBriefing(agentId, limits.timeEveryMs, deps.tellsAround);
  /** The tools for which the system prompt was written; null: it is not written yet. */
  let systemFor: { readonly key: string; readonly names: ReadonlySet<string> } | null = null;
  let system = '';
  let isShortened = false;
  const conversation = createConversation();
  /** The model is offered no tools, as its answers report. */
  let toolless = false;
  const announced = new Set<string>();
  /** The agent knows that its conversation will be compacted. */
  let isToldNear = false;
  const windowNow = () => windowTokensOf(asked.model, room.contextTokens, asked.mind.window?.(asked.model) ?? null);
  const window = createWindow({
    conversation,
    get fixed() {
      return system.length + (toolless ? 0 : sizeOfTools(toolbox.told()).characters);
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
      writeSystemShortened();
      return record([
        messageEvent({ time: now(), messageId, sessionId, runId, agentId, author: 'relay', text, compaction, usage }),
      ]);
    },
    onCut(why) {
      writeSystemShortened();
      if (why === null) say('shortened', SHORTENED);
      else say(`shortened ${why}`, unsummarised(why));
    },
  });
  const watchReading = createWatchReading();
  let queue: Item[] = [];
  let prodded = false;
  let current: Current | null = null;
  let running: Promise<void> | null = null;
  let closed = false;
  const ofPerson = new Set<MessageId>();

  /** Shows the person a notice in the conversation, once for each `what`. */
  function say(what: string, text: string): void {
    if (announced.has(what)) return;
    announced.add(what);
    void record([messageEvent({ time: now(), messageId: newId(), sessionId, runId, agentId, author: 'relay', text })]);
  }

  function sayLeftOut(files: Parameters<AnswerDeps['onLeftOut']>[0]): void {
    for (const { digest, name } of files)
      say(
        digest,
        name === null
          ? sentence`The model’s server could not read a picture that a tool showed. It was left out, and everything else was read.`
          : sentence`The model’s server could not read “${name}”. It was left out, and everything else was read.`,
      );
  }

  function onToolless(isToolless: boolean): void {
    toolless = isToolless;
    // An egg has one tool, and is asked for its name in words instead.
    if (isToolless && announces())
      say(
        `toolless ${asked.model}`,
        sentence`The model “${asked.model}” cannot use tools, or its context is too small for them. This agent can only talk. Choose another model in the settings to let it act.`,
      );
  }

  function onReadLess(model: string, read: number, sent: number): void {
    // All conversations with this model are cut. One of them says so.
    if (asked.mind.readsOnly?.(model, read) === false) return;
    const shown = (tokens: number) => tokens.toLocaleString('en');
    say(
      'read-less',
      sentence`The server of the model “${model}” read only ${shown(read)} of about ${shown(sent)} tokens. Give it a larger context where it runs. For Ollama, start it with OLLAMA_CONTEXT_LENGTH=32768, or set num_ctx in the Modelfile. Until then Roost cuts conversations with this model to what it reads.`,
    );
  }

  /**
   * Whether the items only ask for a greeting or an answer to other agents. Schedules report to the
   * person, who set them.
   */
  const isUnasked = (items: readonly Item[]) =>
    (life.cause.kind === 'session' || life.cause.kind === 'wake') && !items.some(({ fromPerson }) => fromPerson);

  /**
   * Chooses the mind of the next answer. Returns a note about it for the agent; null: nothing has
   * changed.
   */
  function chooseMind(): string | null {
    const before = asked;
    asked = askedNow();
    if (asked.model !== before.model || asked.reads !== before.reads) window.readsNow(windowNow());
    if (!wasDemo || isRehearsal(asked.mind)) return null;
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

  /**
   * The system prompt says what the agent can do. A changed list of tools invalidates the model's
   * cache anyway, so the prompt is rewritten with it.
   */
  function writeSystem(offered: readonly MindTool[]): void {
    const names = offered
      .filter(({ provider }) => !provider || asked.mind.web?.(asked.model))
      .map(({ name }) => name)
      .sort();
    const key = names.join(' ');
    if (key === systemFor?.key) return;
    const isFirst = systemFor === null;
    systemFor = { key, names: new Set(names) };
    system = deps.system(systemFor.names, isShortened);
    if (isFirst && deps.systemAround) briefing.announced(deps.systemAround, system);
  }

  /**
   * The older part may have held a soul that the agent wrote in this conversation. The system
   * prompt has it from now on.
   */
  function writeSystemShortened(): void {
    isShortened = true;
    if (systemFor) system = deps.system(systemFor.names, isShortened);
  }

  const takeItems = () => queue.splice(0, countTogether(queue));

  async function answer(given: readonly Item[]): Promise<void> {
    const messageId = newId();
    for (const { replaces } of given) if (replaces !== undefined) conversation.cutBefore(replaces);
    const writer = createAnswerWriter({
      messageId,
      agentId,
      author: agentId,
      sessionId,
      runId,
      record,
      now,
      onWriteFailed: () => void interrupt({ by: 'relay', error: RUN_BROKEN }),
      onFirstWords: () => hooks.onFirstWords?.() ?? [],
    });
    let resolveOver: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (resolveOver = resolve));
    const mine: Current = {
      given,
      abort: new AbortController(),
      heard: new AbortController(),
      writer,
      interruption: null,
      over,
    };
    current = mine;
    if (queue.some(({ fromPerson }) => fromPerson)) mine.heard.abort();
    try {
      await take(given, messageId, mine);
    } catch (error) {
      // The words stay, although the answer does not continue.
      await writer.finish({ status: 'interrupted', error: null, usage: null }, []);
      throw error;
    } finally {
      // Callers that wait for its end must not wait forever.
      context.waiting.set(agentId, null);
      current = null;
      resolveOver();
    }
  }

  async function take(given: readonly Item[], messageId: MessageId, mine: Current): Promise<void> {
    const endTurn = await context.takeTurn(agentId, mine.abort.signal);
    // The speaker was stopped before its turn. The messages stay in the conversation, and nothing
    // is asked.
    if (!endTurn) return conversation.addUser(saidIn(given));
    try {
      await takeInTurn(given, messageId, mine);
    } finally {
      endTurn();
    }
  }

  async function takeInTurn(given: readonly Item[], messageId: MessageId, mine: Current): Promise<void> {
    // Messages are taken out of the inbox only for delivery. A paused agent takes none, because the
    // session may end before it is resumed.
    await permits.untilResumed(mine.abort.signal);
    // The agent was paused to the end. Nothing of the turn was delivered.
    if (mine.interruption?.by === 'closing') return;
    const recordEnd = await context.recordWork(agentId, { kind: 'turn', messageId });
    try {
      await deliver(given, messageId, mine);
    } finally {
      await recordEnd();
    }
  }

  async function deliver(given: readonly Item[], messageId: MessageId, mine: Current): Promise<void> {
    const { writer } = mine;
    const turn: Turn = { items: given, read: [], isPut: false };
    const outcome = await askAbout(turn, messageId, mine).catch(async (error: unknown): Promise<AnswerOutcome> => {
      if (!isAway(error)) throw error;
      context.logger.warn('An answer was cut off because the database connection broke.', {
        agentId,
        error,
      });
      mine.interruption ??= { by: 'database', error: DATABASE_BROKE };
      conversation.closeCalls(TOOLS_CUT);
      // The messages were sent to the agent, so the next turn delivers them.
      if (!turn.isPut) {
        conversation.addUser(saidIn(turn.items));
        hooks.onStart?.(turn.items);
        // The person sees that an answer was due.
        if (announces()) await writer.begin(turn.read);
        else if (turn.read.length > 0) await record(turn.read);
      }
      return { status: 'interrupted', error: null, usage: null, stop: null, failure: null };
    });
    if (outcome === null) return;
    const { items } = turn;
    // A call without any answer is over. The next call must not be read together with it.
    for (const item of items)
      if (item.alone && item.messageId !== null && writer.blocks().length === 0) conversation.cutBefore(item.messageId);
    const end = { ...outcome, ...statusOf(outcome, mine.interruption) };
    const with_ =
      hooks.onEnd?.({
        ...end,
        items,
        blocks: writer.blocks(),
        hasWords: writer.hasWords(),
        interruption: mine.interruption,
      }) ?? [];
    await writer.finish({ ...end, unasked: isUnasked(items) }, with_);
  }

  /**
   * Delivers the turn and what waits for it, and asks until the mind is done. Null: there is
   * nothing to deliver.
   */
  async function askAbout(turn: Turn, messageId: MessageId, mine: Current): Promise<AnswerOutcome | null> {
    const { writer } = mine;
    const given = turn.items;
    const gathered =
      mine.abort.signal.aborted || given.some(({ alone }) => alone) ? null : await hooks.gather?.(messageId);
    // Waiting messages are older than the new items.
    turn.items = [...(gathered?.items ?? []), ...given];
    turn.read = gathered?.events ?? [];
    if (turn.items.length === 0) return null;
    const note = (await hooks.note?.()) ?? null;
    const notes = [chooseMind(), note, noteOfLength()].flatMap((text) =>
      text === null ? [] : [{ messageId: null, text }],
    );
    turn.items = [...notes, ...turn.items];
    const { mind, model } = asked;
    const bounds = given.find((item) => item.bounds)?.bounds;
    let spent = 0;
    const caller: Caller = {
      agentId,
      sessionId,
      runId,
      run: messageId,
      kind: sessionId === null ? 'run' : 'session',
      signal: mine.abort.signal,
      heard: mine.heard.signal,
    };
    const [offered, around] = await Promise.all([toolbox.offered(caller, begunWith(turn.items)), context.around()]);
    writeSystem(offered.all());
    for (const { fromPerson, messageId } of gathered?.items ?? [])
      if (fromPerson && messageId !== null && given.length === 0) ofPerson.add(messageId);
    const { items, read } = turn;
    for (const { way, attachments = [] } of items) {
      const shown = way ?? (attachments.length > 0 ? WAYS.attachment : null);
      if (shown !== null) context.foreign.note(caller, shown);
    }
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
        system: () => system,
        priority: priorityOf(items),
        onState(state) {
          context.waiting.set(agentId, state.kind === 'waiting' ? state.position : null);
          hooks.onState?.(state);
        },
        onLeftOut: sayLeftOut,
        onResultsLeftOut: () => say('results-left-out', RESULTS_LEFT_OUT),
        onToolless,
        watchReading,
        onReadLess,
        tools: () => offered.now(),
        maxTokens: Math.min(room.maxAnswerTokens, bounds?.answerTokens ?? Infinity),
        maxTurns: bounds?.requests ?? limits.maxTurns,
        resultCharacters: limits.resultCharacters,
        unreadableTurns: limits.unreadableTurns,
        onWindow: (of, tokens) => asked.mind.learn?.(of, tokens),
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
      logger.error('An answer ended because of an error in it.', {
        agentId,
        messageId,
        error,
      });
      restore();
      conversation.addAnswer(writer.blocks().flatMap((block) => (block.kind === 'text' ? [block] : [])));
      return { status: 'failed', error: RUN_BROKEN, usage: null, stop: null, failure: null };
    });
  }

  const begunWith = (items: readonly Item[]): Begun => ({
    words: [...(deps.worksBy ?? []), ...items.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))],
    tools: items.flatMap((item) => item.tools ?? []),
  });

  async function run(): Promise<void> {
    try {
      while ((queue.length > 0 || prodded) && !closed) {
        prodded = false;
        await answer(takeItems());
      }
    } finally {
      // Also after a failure: otherwise, callers that wait until it is quiet would wait forever.
      running = null;
    }
    if (!closed) context.onQuiet(agentId);
  }

  function start(): void {
    if (running) hooks.onWaiting?.();
    else running = run().catch(context.fail);
  }

  async function interrupt(why: Interruption): Promise<void> {
    if (!current) return;
    current.interruption ??= why;
    current.abort.abort();
    await current.over;
  }

  return {
    put(items) {
      if (closed || items.length === 0) return;
      queue.push(...items);
      for (const { fromPerson, messageId } of items) if (fromPerson && messageId !== null) ofPerson.add(messageId);
      if (items.some(({ fromPerson }) => fromPerson)) current?.heard.abort();
      start();
    },
    prod(why) {
      if (closed) return;
      if (why !== undefined) briefing.woken(why);
      prodded = true;
      if (!running) start();
    },
    whenQuiet: async () => {
      while (running) await running;
    },
    holds: (messageId) =>
      ofPerson.has(messageId) &&
      ([...queue, ...(current?.given ?? [])].some((item) => item.messageId === messageId) ||
        conversation.has(messageId)),
    withdraw(messageId) {
      const at = queue.findIndex((item) => item.fromPerson === true && item.messageId === messageId);
      if (at >= 0) ofPerson.delete(messageId);
      return at >= 0 && queue.splice(at, 1).length > 0;
    },
    async withdrawFrom(messageId) {
      // At once, so that only one of two replacements wins.
      for (const later of [...ofPerson].slice([...ofPerson].indexOf(messageId))) ofPerson.delete(later);
      const waits = queue.findIndex((item) => item.messageId === messageId);
      queue = queue.filter((item, i) => i < waits || !item.fromPerson);
      if (waits < 0) await interrupt({ by: 'person' });
    },
    correctSummary: (messageId, text) => compactor.correct(messageId, text),
    settle: () => ofPerson.clear(),
    busy: () => running !== null,
    size: () => conversation.size(),
    interrupt,
    async close(why) {
      closed = true;
      queue = [];
      await interrupt(why);
    },
    async closeAfter(last, limitMs, why) {
      closed = true;
      queue = [];
      await interrupt(why);
      const cancel = context.timers.after(limitMs, () => void interrupt(why));
      running = answer([last])
        .catch(context.fail)
        .finally(() => {
          cancel();
          running = null;
        });
      await running;
    },
    personSaid: () => saidByPerson,
    isDemo: () => wasDemo,
  };
}
