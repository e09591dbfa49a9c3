/** The session, as the relay's other parts see it. */
import type { Mind } from '../minds/mind.ts';
import type { SizeOfWake } from '../../team/costs/contract.ts';
import type { EventLists } from '../../team/pauses/index.ts';
import type { ToolOutcome } from '../../tools/index.ts';
import type { AgentState } from '../../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { JoinedClient } from '../../../src/shared/domain/lifecycle.ts';
import type { AgentPayload } from '../../../src/shared/domain/wake-payload.ts';
import type { EndReason } from '../../../src/shared/protocol/documents.ts';
import type { PostMessage, RunningSettings, StartSession } from '../../../src/shared/protocol/http.ts';
import type { Waiting } from '../../../src/shared/protocol/stream.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';

/** Words for an agent beside a message of the person, and tools that they need. */
export interface MoreForAgent {
  readonly text: string;
  readonly tools: readonly string[];
}

export type PostOutcome =
  | { readonly ok: true; readonly eventId: number }
  | {
      readonly ok: false;
      readonly reason: 'no-session' | 'already-awake' | 'unknown-agent' | 'malformed' | 'not-last' | 'too-large';
      readonly detail: string;
    };

/** A client that drives an agent: a credential, and how it was used. */
export interface CallingClient extends JoinedClient {
  readonly credentialId: string;
}

export type Brought =
  | { readonly ok: true; readonly over: Promise<void> }
  | { readonly ok: false; readonly detail: string };

/**
 * A note for the agent about what it did alone since then, and the time up to which the note
 * reports. Null: nothing. `asleep`: it wakes with the note. Never rejects.
 */
export type Meanwhile = (
  agentId: AgentId,
  since: number,
  asleep: boolean,
) => Promise<{ readonly text: string; readonly upTo: number } | null>;

/** An agent of this session that the directory may not know yet. */
export interface Newborn {
  readonly member: TeamMember;
  /**
   * What an ACP agent may call over MCP before this agent's birth is complete. Null: the agent is
   * born, and may call all tools.
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
   * Runs one wake of made-up agents against this mind, so that first-use costs do not fall on the
   * first real wake. Leaves no trace.
   */
  warm(mind: Mind, signal: AbortSignal): Promise<void>;
  /** The requests that this call would send. `start` applies where no session runs. */
  readonly sizeOfWake: SizeOfWake;
  /**
   * If no session starts: the session that runs, or null if `after` lies too far ahead of the
   * log's clock.
   */
  start(
    request: StartSession,
    lists?: EventLists,
  ): Promise<{ ok: true; sessionId: SessionId } | { ok: false; sessionId: SessionId | null }>;
  /**
   * Seats an agent in the running session, without the lead and without asking the gate. If
   * `agent_started` puts it to sleep, no model is asked. Otherwise it is asked for its first words.
   * `over` resolves when it has arrived or failed to.
   */
  bring(payload: AgentPayload): Promise<Brought>;
  /**
   * False if no session runs. Resolves when the end is on disk and all work of the session has
   * stopped.
   */
  end(reason: EndReason): Promise<boolean>;
  /** `more`: goes to the agent with the message, and is not shown. */
  post(message: PostMessage, more?: MoreForAgent): Promise<PostOutcome>;
  /**
   * Withdraws a message of the person that its agent has not read. False if it waits nowhere.
   */
  withdraw(messageId: MessageId): Promise<boolean>;
  /** The person has corrected this summary. Agents that hold it go on by the new text. */
  correctSummary(messageId: MessageId, text: string): void;
  /** Stops the agent's current answer. False if it is not answering. */
  stop(agentId: AgentId): Promise<boolean>;
  /**
   * Puts one agent to sleep, or abandons one egg. False if the agent is neither awake nor
   * hatching.
   */
  sleep(agentId: AgentId): Promise<boolean>;
  /**
   * The database did not come back in time. Running answers end with this sentence. The session
   * goes on.
   */
  cutOff(sentence: string): void;
  /** The running session, or null if none runs or it is ending. */
  sessionId(): string | null;
  stateOf(agentId: AgentId): AgentState;
  /** The run of this agent in the session. Null: it is not in it, or only a client drives it. */
  runOf(agentId: AgentId): RunId | null;
  /** These settings apply from each agent's next answer on. False: no session runs. */
  changeSettings(settings: RunningSettings): boolean;
  /** The model that answers for this agent in the session. Null: no session runs. */
  modelOf(agentId: AgentId): string | null;
  /**
   * Delivers the agent's inbox in a turn of its own, with a line that says why. Resolves when the
   * turn is over. False: there was no turn, because the agent is not here or nothing waited.
   */
  rouse(agentId: AgentId, why?: string): Promise<boolean>;
  /**
   * An agent that is hatching or has hatched in the running session. Null: it did not. Pages add it
   * to the directory later.
   */
  newborn(agentId: AgentId): Newborn | null;
  /**
   * A client called with this agent's credential. It drives the agent from outside until it has
   * been silent for long.
   */
  joined(agent: TeamMember, client: CallingClient): Promise<void>;
  /** This credential was revoked. */
  left(credentialId: string): void;
  /** Requests in the queue of the model server. */
  waiting(): Waiting;
  /**
   * An API client calls this tool for an agent, or a model where `tool` is null. Returns a function
   * that reports the end.
   */
  clientCalls(agentId: AgentId, tool: string | null, input: unknown): () => void;
  /** Called on every change of the queue. Returns a function that unsubscribes. */
  onWaiting(listener: (waiting: Waiting) => void): () => void;
  /** Called when an agent's turn is over. Returns a function that unsubscribes. */
  onTurnEnd(listener: (agentId: AgentId) => void): () => void;
  /**
   * Sets the recorder of wakes by the person. `record` resolves when the wake is decided, and does
   * not reject. `callId`: the call that woke the agent, alone or with others.
   */
  recordPersonWakes(record: (agentId: AgentId, callId: string) => Promise<void>): void;
}
