/** Operations on MCP servers, for the person's page and for the parts that offer tools. */
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { McpServer, Attachment, Box } from '../../../src/shared/protocol/mcp.ts';
import type { Runner } from '../../../src/shared/protocol/runners.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import type { AskPerson } from '../../approvals/requests/contract.ts';
import type { TeamTool } from '../../tools/index.ts';
import type { Processes } from '../../platform/processes/index.ts';
import type { RecordSource } from '../../team/records/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Sealer } from '../../platform/sealer.ts';
import type { HomeStore } from '../../store/index.ts';
import type { Starts } from './program.ts';
import type { McpLimits } from './settings.ts';
import type { SetAside } from '../../platform/set-aside.ts';

export interface McpServers {
  /** Reads the stored servers, and opens a connection to each. Resolves before they are open. */
  start(): Promise<void>;
  all(): McpServer[];
  /** The machine's settings for programs that fetch others. */
  runners(): Promise<Runner[]>;
  /** All tools of all servers that agents are offered now. */
  tools(): readonly TeamTool[];
  /**
   * Resolves after the attempt to connect, whether or not the server answers. Null: it was removed
   * in the meantime.
   */
  add(name: string, attachment: Attachment): Promise<McpServer | Refused | null>;
  /** Connects now. Null: the server does not exist. */
  retry(serverId: string): Promise<McpServer | null>;
  /**
   * `changed-elsewhere`: the server is not at the version that the change names. Null: it does not
   * exist.
   */
  change(serverId: string, change: Change): Promise<McpServer | Refused | 'changed-elsewhere' | null>;
  /** The page on which the person allows a sign-in, which sends them back to `redirect`. */
  signIn(serverId: string, redirect: string): Promise<URL | Refused | null>;
  signOut(serverId: string): Promise<McpServer | null>;
  /**
   * `query`: of the returning request. Resolves after the attempt to connect with the new tokens.
   */
  finishSignIn(query: URLSearchParams): Promise<McpServer | Refused>;
  /** False: it does not exist. The server's secrets are deleted, and its connection is closed. */
  remove(serverId: string): Promise<boolean>;
  /** The person's settings, as records. */
  readonly records: RecordSource;
  close(): Promise<void>;
}

export interface Refused {
  readonly refused: 'box' | 'name' | 'room' | 'programs' | 'address' | 'tools' | 'sign-in';
  readonly reason: string;
}

export interface Change {
  /** The version that the change expects; left out: any. */
  readonly version?: number | undefined;
  readonly agents?: readonly string[] | null | undefined;
  /** Null: the program runs outside the sandbox from now on. */
  readonly box?: Box | null | undefined;
  /** The person has reviewed these tools in the version with this hash. */
  readonly tools?: readonly { readonly name: string; readonly hash: string; readonly use: boolean }[] | undefined;
}

export interface McpServersDeps extends HomeStore {
  readonly sealer: Sealer;
  readonly version: string;
  readonly rights: HomeRights;
  readonly processes: Pick<Processes, 'start'>;
  readonly sandbox: Starts['sandbox'];
  readonly timers: Timers;
  /** ms since the epoch, and monotonic ms. */
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly newId: () => string;
  readonly onChange: () => void;
  readonly askPerson: AskPerson;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly limits?: McpLimits;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}
