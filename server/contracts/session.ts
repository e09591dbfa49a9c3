/** The session, as everything around it sees it. */
import type { JoinedClient } from '../../src/shared/domain/answering.ts';
import type { AgentState } from '../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId, SessionId } from '../../src/shared/domain/ids.ts';
import type { AgentPayload } from '../../src/shared/domain/wake-payload.ts';
import type { EffectiveConfig } from '../../src/shared/protocol/config.ts';
import type { EndReason } from '../../src/shared/protocol/documents.ts';
import type { Waiting } from '../../src/shared/protocol/stream.ts';
import type { PostMessage, StartSession } from '../../src/shared/protocol/http.ts';
import type { TeamMember } from '../../src/shared/protocol/team.ts';
import type { Mind } from './mind.ts';
import type { ToolOutcome } from './tools.ts';

export type PostOutcome =
  | { readonly ok: true; readonly eventId: number }
  | {
      readonly ok: false;
      readonly reason: 'no-session' | 'already-awake' | 'unknown-agent' | 'malformed' | 'not-last' | 'too-large';
      readonly detail: string;
    };

/** Who plays an agent: a credential, and how it was used. */
export interface CallingClient extends JoinedClient {
  readonly credentialId: string;
}

/** By what happens an agent is put to sleep, and woken. */
export type TeamEvents = Pick<EffectiveConfig['coordination'], 'sleep_events' | 'wake_events'>;
/** By agent; what is left out is the agent's own. */
export type EventLists = ReadonlyMap<AgentId, Partial<TeamEvents>>;

export type Brought =
  | { readonly ok: true; readonly over: Promise<void> }
  | { readonly ok: false; readonly detail: string };

/** The requests of one agent, in order. Each begins with all of the one before it. */
export interface WakeRequests {
  readonly agentId: AgentId;
  readonly model: string;
  /** UTF-8 bytes of each. */
  readonly bytes: readonly number[];
}

/**
 * What an agent did alone since then, as a note for its mind, and up to when that tells; null:
 * nothing. `asleep`: it wakes with it. Never rejects.
 */
export type Meanwhile = (
  agentId: AgentId,
  since: number,
  asleep: boolean,
) => Promise<{ readonly text: string; readonly upTo: number } | null>;

/** The one session a relay can run, and everything that happens in it. */
/** An agent of this session that the directory need not know yet. */
export interface Newborn {
  readonly member: TeamMember;
  /**
   * What an ACP agent that drives it may call over MCP before the birth is complete; null: it is
   * born, and may call what all may.
   */
  readonly birth: Birth | null;
}
export interface Birth {
  /** Names of its tools. */
  readonly tools: readonly string[];
  call(tool: string, input: unknown): Promise<ToolOutcome>;
}

export interface SessionHost {
  /**
   * Runs a few wakes of nobody, answered by this mind, so that the first need not pay for what is
   * made at first use. Leaves no trace.
   */
  warm(mind: Mind, signal: AbortSignal): Promise<void>;
  /**
   * The requests that this call would send, measured and not sent. `start` counts where no session
   * runs. Rejects where it cannot be measured now.
   */
  sizeOfWake(
    asked: { readonly start: StartSession; readonly text: string },
    signal: AbortSignal,
  ): Promise<
    { readonly ok: true; readonly requests: readonly WakeRequests[] } | { readonly ok: false; readonly detail: string }
  >;
  /**
   * Where it is not started: the session that runs, or null where `after` lies too far ahead of the
   * log’s clock.
   */
  start(
    request: StartSession,
    lists?: EventLists,
  ): Promise<{ ok: true; sessionId: SessionId } | { ok: false; sessionId: SessionId | null }>;
  /**
   * Seats an agent in the running session, without the lead and without asking the gate. Where
   * `agent_started` puts it to sleep it rests, and no model is asked; else it is asked for its
   * first words. `over` resolves when it is here, or is not.
   */
  bring(payload: AgentPayload): Promise<Brought>;
  /**
   * False where no session runs. Resolves when the end is on disk and nothing of the session runs
   * on.
   */
  end(reason: EndReason): Promise<boolean>;
  post(message: PostMessage): Promise<PostOutcome>;
  /**
   * Takes back a message of the person's that its agent has not read. False where it waits nowhere.
   */
  takeBack(messageId: MessageId): Promise<boolean>;
  /** Stops what this agent is saying. False where it is not saying anything. */
  stop(agentId: AgentId): Promise<boolean>;
  /**
   * Puts one agent to sleep, or gives up one egg, by agent id. False where it is neither awake nor
   * hatching.
   */
  sleep(agentId: AgentId): Promise<boolean>;
  /**
   * The database was waited for in vain: what is being said ends with this sentence. The session
   * goes on.
   */
  cutOff(sentence: string): void;
  /** The session that runs and is not ending, or null. */
  sessionId(): string | null;
  stateOf(agentId: AgentId): AgentState;
  /** The model that answers for this agent in the session; null: none runs. */
  modelOf(agentId: AgentId): string | null;
  /**
   * Puts before an agent what waits in its inbox, in a turn of its own, with a line that says why.
   * Resolves when that turn is over; false where there was no turn: it is not here, or nothing
   * waited.
   */
  rouse(agentId: AgentId, why?: string): Promise<boolean>;
  /**
   * An agent that hatches or has hatched in the session that runs; null: it is none. Pages have the
   * directory know it later.
   */
  newborn(agentId: AgentId): Newborn | null;
  /**
   * A client has called with this agent's credential: it plays the agent from elsewhere, until it
   * is silent for long.
   */
  joined(agent: TeamMember, client: CallingClient): Promise<void>;
  /** This credential was revoked. */
  left(credentialId: string): void;
  /** Who waits in line before the model's server. */
  waiting(): Waiting;
  /**
   * An API client calls this tool for an agent, or, where it is null, a model. Returns the way to
   * tell its end.
   */
  clientCalls(agentId: AgentId, tool: string | null, input: unknown): () => void;
  /** Called whenever that changes. Returns the way to stop. */
  onWaiting(listener: (waiting: Waiting) => void): () => void;
  /** Called when an agent's turn is over. */
  onTurnEnd(listener: (agentId: AgentId) => void): () => void;
  /**
   * Who keeps the record of what the person wakes. `record` resolves when it is decided, and does
   * not reject. `callId`: of the call that woke it, with others or alone.
   */
  recordPersonWakes(record: (agentId: AgentId, callId: string) => Promise<void>): void;
}

/** What an agent woke with, and what was said since. */
export interface WokenTalk {
  /** As it is now. */
  readonly soul: string | null;
  readonly transcript: string | null;
  /**
   * ms since the epoch when the last thing was said that it was told with its wake; null: nothing.
   */
  readonly asleepSince: number | null;
  /** Oldest first. */
  readonly said: readonly { readonly author: string; readonly time: number; readonly text: string }[];
  /** `said` holds all of it, and nothing was taken back. */
  readonly whole: boolean;
}
