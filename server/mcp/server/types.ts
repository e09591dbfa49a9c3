/** What the MCP server needs, and how it answers. */
import type { Context } from 'hono';
import type { RunId } from '../../../src/shared/domain/ids.ts';
import type { Credentials } from '../../access/index.ts';
import type { SessionHost } from '../../agents/session/contract.ts';
import type { EventLog } from '../../log/index.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Gate } from '../../team/gate/contract.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import type { Pauses } from '../../team/pauses/index.ts';
import type { TeamTool } from '../../tools/index.ts';
import type { Env } from '../../http/endpoint.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Threads } from '../../team/threads/index.ts';
import type { Every } from './server.ts';
import type { SlotsDeps } from './sessions.ts';
import type { McpSettings } from './settings.ts';

export interface McpDeps {
  readonly tools: readonly TeamTool[];
  readonly credentials: Pick<Credentials, 'check' | 'onRevoke'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly pauses: Pick<Pauses, 'wait' | 'isPaused'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly inbox: Pick<Inbox, 'unread' | 'waiting'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly stateOf: SessionHost['stateOf'];
  readonly gate: Pick<Gate, 'stats'>;
  readonly threads: Pick<Threads, 'list'>;
  /** The running session, or null. */
  readonly sessionId: () => string | null;
  /**
   * A client called during a session, so its agent is present. Called before every tool call and
   * resource read.
   */
  readonly joined: SessionHost['joined'];
  readonly clientCalls: SessionHost['clientCalls'];
  /** Left out: no session hatches eggs. */
  readonly newborn?: SessionHost['newborn'];
  /** A run of the relay itself has listed its tools. */
  readonly onListed?: (runId: RunId) => void;
  /** Left out: nobody follows it. */
  readonly onCalled?: (runId: RunId) => () => void;
  /** The relay's version. */
  readonly version: string;
  readonly newId: () => string;
  /** Monotonic ms. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly settings?: Partial<McpSettings>;
  readonly every?: Every;
  /**
   * The store, where other processes may have sessions of the same credentials. Left out: this
   * process has all of them.
   */
  readonly shared?: Pick<SlotsDeps, 'db' | 'database' | 'home'>;
}

/** The answers to the requests of clients. */
export interface McpRoutes {
  post(context: Context<Env>): Promise<Response>;
  /** GET and DELETE, which belong to a session. */
  inSession(context: Context<Env>): Promise<Response>;
}
