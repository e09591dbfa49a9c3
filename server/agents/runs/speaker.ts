/**
 * Somebody who answers: the lead, or an agent, in a session or at work alone. It has one
 * conversation and answers one thing at a time. What arrives meanwhile waits in order and is put
 * before it together, except a call to the team, which is put alone.
 */
import { withoutDisclaimers } from '../../../src/shared/domain/demo-words.ts';
import type { MessageId, AgentId } from '../../../src/shared/domain/ids.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { Caller } from '../../contracts/index.ts';
import { isRehearsal, windowTokensOf, type MindTool, type RequestState } from '../minds/index.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';
import { isAway } from '../../store/index.ts';
import { type AnswerDeps, type AnswerOutcome, type AnswerWriter, createAnswerWriter, runAnswer } from './answer.ts';
import { createConversation, createWindow, type UserText } from './conversation.ts';
import { DATABASE_BROKE, RUN_BROKEN, statusOf, type Interruption } from './outcome.ts';
import { countTogether, priorityOf, type Item } from './item.ts';
import { createPermits } from './permits.ts';
import { createToolbox, TOOLS_CUT, type Begun, type OwnTools } from './toolbox.ts';
import { messageEvent } from './message-event.ts';
import { type Around, createNews, type RunContext } from './context.ts';
import type { Block } from '../../../src/shared/protocol/documents.ts';
import type { Life } from './life.ts';

/* What whoever gives somebody a voice hears of it, and adds to it. */

export interface AnswerEnd extends AnswerOutcome {
  readonly items: readonly Item[];
  readonly blocks: readonly Block[];
  readonly hasWords: boolean;
  readonly interruption: Interruption | null;
}

/** What waits and is put before the agent now, with what to write of it. */
export interface Gathered {
  readonly items: readonly Item[];
  readonly events: readonly RoostEvent[];
}

interface SpeakerHooks {
  onStart?(items: readonly Item[]): void;
  /** Before the first word of each answer; the events stand before that word. */
  onFirstWords?(): readonly RoostEvent[];
  /** When an answer is over; the events stand right after its `message`. */
  onEnd?(end: AnswerEnd): readonly RoostEvent[];
  /** Where its request to the mind is. */
  onState?(state: RequestState): void;
  /** Something waits while an answer is being given. */
  onWaiting?(): void;
  /** What else is to be put before it with this turn, and what to write of that. */
  gather?(run: string): Promise<Gathered>;
  /** What it is told first with this turn, and is no reason for one; null: nothing. */
  note?(): Promise<string | null>;
  /** Whom its first request lets go first; aborted: the turn is broken off. */
  letGoFirst?(signal: AbortSignal): Promise<void>;
}

/** What somebody speaks with. */
interface SpeakerDeps {
  readonly context: RunContext;
  /** The run that it speaks in, of which it is told what it took. */
  readonly life: Pick<Life, 'runId' | 'agentId' | 'cause' | 'took'>;
  /** What its next answer is asked of. */
  readonly model: () => string;
  /** Of requests after tools were used; left out: the same. */
  readonly laterModel?: string;
  readonly cachesForAnHour?: boolean;
  /**
   * Its system prompt, by the names of the tools that it is offered. Called anew only where those
   * have changed.
   */
  readonly system: (tools: ReadonlySet<string>) => string;
  /** Words that it works by, and is not told as an item: tools that they name are at hand. */
  readonly worksBy?: readonly string[];
  /** What the system prompt says of how things are; left out: its first message says it. */
  readonly systemAround?: Around;
  readonly tools: OwnTools;
  /**
   * Whether an answer shows before its first word. False while it is not known whether there will
   * be one.
   */
  readonly announces: () => boolean;
  readonly hooks: SpeakerHooks;
}

/*
 * What is put before a mind besides what was said to it: how things are, what of that has changed,
 * and why it was woken.
 */

interface Briefing {
  /** Its system prompt says how things are. */
  announced(around: Around, system: string): void;
  /** Told with its next turn. */
  woken(why: string): void;
  /**
   * As they are put: the prompts first, then what has changed since, who woke it, and what was
   * said.
   */
  textsOf(items: readonly Item[], around: Around): UserText[];
}

/** `timeEveryMs`: after so long it is told the time again. */
function createBriefing(agentId: AgentId, timeEveryMs: number): Briefing {
  const news = createNews(agentId, timeEveryMs);
  const woken: string[] = [];
  return {
    announced: (around, system) => news.announced(around, system),
    woken: (why) => void woken.push(why),
    textsOf(items, around) {
      const prompts = items.flatMap(({ messageId, text }) =>
        typeof text === 'string' ? [] : [{ messageId, ...text(around) }],
      );
      for (const { text } of prompts) news.announced(around, text);
      const notes = [...news.since(around), ...woken.splice(0)].map((text) => ({ messageId: null, text }));
      return [...prompts, ...notes, ...saidIn(items)];
    },
  };
}

/** What was said, without the prompts. */
const saidIn = (items: readonly Item[]): UserText[] =>
  items.flatMap(({ messageId, text, attachments = [] }) =>
    typeof text === 'string' ? [{ messageId, text, attachments }] : [],
  );

export interface Speaker {
  /** Puts these before the speaker: at once where it is quiet, in the same tick. */
  put(items: readonly Item[]): void;
  /** Begins a turn with what is gathered for it, if anything is. `why` is told with it. */
  prod(why?: string): void;
  /** Resolves when it is quiet. */
  whenQuiet(): Promise<void>;
  /**
   * Whether this is a message of the person's that still waits, or that the mind has before it:
   * another can take its place.
   */
  holds(messageId: MessageId): boolean;
  /** Takes back one message of the person's that still waits, alone. False where it does not. */
  takeBack(messageId: MessageId): boolean;
  /**
   * Takes back a message and what the person wrote after it: none of it waits any more, and what is
   * being said is stopped, on disk.
   */
  withdraw(messageId: MessageId): Promise<void>;
  /**
   * What the person has said until now stays as it is: they called the team, and nobody takes that
   * back.
   */
  settle(): void;
  /** An answer is under way, whether or not it has said anything. */
  busy(): boolean;
  /** Characters of its conversation, without its system prompt. */
  size(): number;
  /** Ends the current answer; resolves when that is on disk. What waits is put next. */
  interrupt(why: Interruption): Promise<void>;
  /** As `interrupt`, and nothing more is put or said. */
  close(why: Interruption): Promise<void>;
}

interface Current {
  readonly abort: AbortController;
  /** Aborts when the person has written something that waits for the end of this answer. */
  readonly heard: AbortController;
  readonly writer: AnswerWriter;
  interruption: Interruption | null;
  /** Resolves when the answer is over and on disk. */
  readonly over: Promise<void>;
}

/** What one turn puts before the mind. */
interface Turn {
  items: readonly Item[];
  /** What to write of messages that were taken out of the inbox for it. */
  read: readonly RoostEvent[];
  /** The mind has it before it. */
  isPut: boolean;
}

const MODEL_CAME =
  '[Until now a demo played your part in this conversation: its answers were prepared sentences. From this message on a model is connected, and you think for yourself. Go on as who you are.]';

const SHORTENED =
  'This conversation is longer than the model can read: from here on it is given the newest part. Nothing of it is lost here.';

export function createSpeaker(deps: SpeakerDeps): Speaker {
  const { context, life, tools, announces, hooks } = deps;
  const { sessionId, now, newId, limits, logger, room, record, rest, costs } = context;
  const { agentId, runId } = life;
  const permits = createPermits({ rest, costs, agentId, sessionId, onError: context.fail });
  const toolbox = createToolbox({
    context,
    agentId,
    own: tools,
    untilResumed: permits.untilResumed,
  });
  const mindNow = () => context.mind.current?.() ?? context.mind;
  let asked = { mind: mindNow(), model: deps.model() };
  let wasDemo = false;
  const briefing = createBriefing(agentId, limits.timeEveryMs);
  /** For which tools the system prompt was written; null: for none yet. */
  let systemFor: string | null = null;
  let system = '';
  const conversation = createConversation();
  /** The model is told of no tools: its answers say so. */
  let toolless = false;
  const announced = new Set<string>();
  const window = createWindow({
    conversation,
    get fixed() {
      return system.length + (toolless ? 0 : JSON.stringify(toolbox.told()).length);
    },
    maxTokens: room.maxAnswerTokens,
    windowTokens: windowTokensOf(asked.model, room.contextTokens),
    limits: limits.window,
    onShortened: sayShortened,
  });
  let queue: Item[] = [];
  let prodded = false;
  let current: Current | null = null;
  let running: Promise<void> | null = null;
  let closed = false;
  const ofPerson = new Set<MessageId>();

  /** Once for each `what`: the person sees it in the conversation. */
  function say(what: string, text: string): void {
    if (announced.has(what)) return;
    announced.add(what);
    void record([messageEvent({ time: now(), messageId: newId(), sessionId, runId, agentId, author: 'relay', text })]);
  }

  /** The mind has not all of it before it any more. */
  function sayShortened(): void {
    say('shortened', SHORTENED);
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
        sentence`The model “${asked.model}” cannot use tools here, or reads too little for them: this agent can talk, and nothing else. Choose another model in the settings to let it act.`,
      );
  }

  function onReadLess(read: number, sent: number): void {
    const shown = (tokens: number) => tokens.toLocaleString('en');
    say(
      'read-less',
      sentence`The model’s server read ${shown(read)} of about ${shown(sent)} tokens, and left the rest out without a word. Give it a larger context where it runs (Ollama: OLLAMA_CONTEXT_LENGTH). Until then this conversation is cut to what it reads.`,
    );
  }

  /** A greeting, or an answer to others. What is due reports to the person, who set it. */
  const isUnasked = (items: readonly Item[]) =>
    (life.cause.kind === 'session' || life.cause.kind === 'wake') && !items.some(({ fromPerson }) => fromPerson);

  /**
   * What the next answer is asked of. Returns what its agent is told of that; null: nothing is new
   * to it.
   */
  function chooseMind(): string | null {
    const before = asked;
    asked = { mind: mindNow(), model: deps.model() };
    if (asked.model !== before.model) window.readsNow(windowTokensOf(asked.model, room.contextTokens));
    if (!wasDemo || isRehearsal(asked.mind)) return null;
    conversation.changeAnswers(withoutDisclaimers);
    return MODEL_CAME;
  }

  /**
   * What it can do is in its system prompt. A list of tools that changes is read anew anyway, and
   * the prompt with it.
   */
  function writeSystem(offered: readonly MindTool[]): void {
    const names = offered
      .filter(({ provider }) => !provider || asked.mind.web?.(asked.model))
      .map(({ name }) => name)
      .sort();
    const key = names.join(' ');
    if (key === systemFor) return;
    const isFirst = systemFor === null;
    systemFor = key;
    system = deps.system(new Set(names));
    if (isFirst && deps.systemAround) briefing.announced(deps.systemAround, system);
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
      onUnkept: () => void interrupt({ by: 'relay', error: RUN_BROKEN }),
      onFirstWords: () => hooks.onFirstWords?.() ?? [],
    });
    let resolveOver: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (resolveOver = resolve));
    const mine: Current = {
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
      // What was said is kept, though it will not go on.
      await writer.finish({ status: 'interrupted', error: null, usage: null }, []);
      throw error;
    } finally {
      // Whoever waits for its end must not wait for ever.
      context.waiting.set(agentId, null);
      current = null;
      resolveOver();
    }
  }

  async function take(given: readonly Item[], messageId: MessageId, mine: Current): Promise<void> {
    const endTurn = await context.takeTurn(agentId, mine.abort.signal);
    // Stopped before it was its turn: what was said is before it, and nothing is asked about it.
    if (!endTurn) return conversation.addUser(saidIn(given));
    try {
      await takeInTurn(given, messageId, mine);
    } finally {
      endTurn();
    }
  }

  async function takeInTurn(given: readonly Item[], messageId: MessageId, mine: Current): Promise<void> {
    const { writer } = mine;
    // What is taken out of the inbox is put before it: not while it sleeps, where the session may
    // end before it is woken.
    await permits.untilResumed(mine.abort.signal);
    // It slept until the end: nothing of this was put before it.
    if (mine.interruption?.by === 'closing') return;
    const turn: Turn = { items: given, read: [], isPut: false };
    const outcome = await askAbout(turn, messageId, mine).catch(async (error: unknown): Promise<AnswerOutcome> => {
      if (!isAway(error)) throw error;
      context.logger.warn('an answer was cut: the database broke off', { agentId, error: String(error) });
      mine.interruption ??= { by: 'database', error: DATABASE_BROKE };
      conversation.closeCalls(TOOLS_CUT);
      // What it was to be given was said to it, and is before it next time.
      if (!turn.isPut) {
        conversation.addUser(saidIn(turn.items));
        hooks.onStart?.(turn.items);
        // The person sees that it was to be answered.
        if (announces()) await writer.begin(turn.read);
        else if (turn.read.length > 0) await record(turn.read);
      }
      return { status: 'interrupted', error: null, usage: null, stop: null, failure: null };
    });
    if (outcome === null) return;
    const { items } = turn;
    // A call that was not answered at all is over; the next one must not be read together with it.
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
   * Puts the turn before the mind, with what waits for it, until it is done. Null: there is nothing
   * to put.
   */
  async function askAbout(turn: Turn, messageId: MessageId, mine: Current): Promise<AnswerOutcome | null> {
    const { writer } = mine;
    const given = turn.items;
    const gathered =
      mine.abort.signal.aborted || given.some(({ alone }) => alone) ? null : await hooks.gather?.(messageId);
    // What waited was said before what comes now.
    turn.items = [...(gathered?.items ?? []), ...given];
    turn.read = gathered?.events ?? [];
    if (turn.items.length === 0) return null;
    const note = (await hooks.note?.()) ?? null;
    const notes = [chooseMind(), note].flatMap((text) => (text === null ? [] : [{ messageId: null, text }]));
    turn.items = [...notes, ...turn.items];
    const { mind, model } = asked;
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
    conversation.addUser(briefing.textsOf(items, around));
    turn.isPut = true;
    hooks.onStart?.(items);
    const begun = announces() ? writer.begin(read) : read.length > 0 ? record(read) : null;
    // What was read is in the log before a mind is asked about it: a crash in between leaves it
    // read, and told.
    if (read.length > 0) await begun;
    const restore = conversation.mark();
    const answering = async (): Promise<AnswerOutcome> => {
      await hooks.letGoFirst?.(mine.abort.signal);
      const own = (await mind.of?.({ agentId, sessionId, runId })) ?? null;
      wasDemo = own === null && isRehearsal(mind);
      const outcome = await runAnswer({
        mind: own ?? mind,
        model,
        laterModel: deps.laterModel ?? model,
        cachesForAnHour: deps.cachesForAnHour ?? false,
        system,
        priority: priorityOf(items),
        onState(state) {
          context.waiting.set(agentId, state.kind === 'waiting' ? state.position : null);
          hooks.onState?.(state);
        },
        onLeftOut: sayLeftOut,
        onToolless,
        onReadLess,
        tools: () => offered.now(),
        maxTokens: room.maxAnswerTokens,
        maxTurns: limits.maxTurns,
        resultCharacters: limits.resultCharacters,
        unreadableTurns: limits.unreadableTurns,
        conversation,
        window,
        writer,
        signal: mine.abort.signal,
        onSpent: (usage, cost) => life.took(usage, cost),
        runTool: (name, input) => toolbox.run(name, input, caller, offered),
        onBegun: (name, input) => toolbox.begun(name, input, caller, offered),
        permit: (size, signal) => permits.next(size, messageId, signal),
      });
      conversation.closeCalls(TOOLS_CUT);
      return outcome;
    };
    return await answering().catch((error: unknown): AnswerOutcome => {
      if (isAway(error)) throw error;
      // A mistake of ours costs this answer, and nothing that was shown. What it did to the
      // conversation is undone.
      logger.error('an answer ended because something in it failed', {
        agentId,
        messageId,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
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
      // Also where it failed: whoever waits until it is quiet would ask for ever.
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
      ofPerson.has(messageId) && (queue.some((item) => item.messageId === messageId) || conversation.has(messageId)),
    takeBack(messageId) {
      const at = queue.findIndex((item) => item.fromPerson === true && item.messageId === messageId);
      if (at >= 0) ofPerson.delete(messageId);
      return at >= 0 && queue.splice(at, 1).length > 0;
    },
    async withdraw(messageId) {
      // At once: of two that would take its place, one comes too late.
      for (const later of [...ofPerson].slice([...ofPerson].indexOf(messageId))) ofPerson.delete(later);
      const waits = queue.findIndex((item) => item.messageId === messageId);
      queue = queue.filter((item, i) => i < waits || !item.fromPerson);
      if (waits < 0) await interrupt({ by: 'person' });
    },
    settle: () => ofPerson.clear(),
    busy: () => running !== null,
    size: () => conversation.size(),
    interrupt,
    async close(why) {
      closed = true;
      queue = [];
      await interrupt(why);
    },
  };
}
