/** What whoever gives somebody a voice hears of it, and adds to it. */
import type { Block } from '../../../src/shared/protocol/documents.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { RequestState } from '../minds/index.ts';
import type { AnswerOutcome } from './answer.ts';
import type { Around } from './around.ts';
import type { RunContext } from './context.ts';
import type { Interruption } from './outcome.ts';
import type { Item } from './item.ts';
import type { Life } from './life.ts';
import type { OwnTools } from './toolbox.ts';

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

export interface SpeakerHooks {
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
export interface SpeakerDeps {
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
