/** What the modules of this folder share: the household's store, and the connected parts. */
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { EventLog } from '../../log/index.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { HomeStore } from '../../store/index.ts';
import type { ProjectRoom } from './room.ts';
import type { PROJECT_SETTINGS } from './settings.ts';
import type { SetAside } from '../../platform/set-aside.ts';
import type { Projects, RestOf, TaskWork } from './contract.ts';

export interface ProjectsDeps extends HomeStore {
  readonly directory: Pick<Directory, 'all'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly tell: (event: RoostEvent) => void;
  /** In ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  /** Why agents may store nothing more now, as a sentence. Null: they may. */
  readonly refuseForRoom: () => Promise<string | null>;
  readonly room?: ProjectRoom;
  readonly logger: Pick<Logger, 'error'>;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
  readonly settings?: typeof PROJECT_SETTINGS;
}

/** Parts of the relay that are connected to projects after these were made. */
interface Connected {
  work: TaskWork | null;
  /** The columns from which routines take tasks of a project. */
  routines: Parameters<Projects['connectRoutines']>[0];
  restOf: RestOf;
  onRemoved: Parameters<Projects['onRemoved']>[0];
}

/** What the modules of this folder share. */
export interface ProjectsBase extends Required<Omit<ProjectsDeps, 'log' | 'tell'>> {
  readonly connected: Connected;
  /** Tells pages that a project, or one of its tasks, has changed. */
  readonly changed: (projectId: ProjectId) => void;
}
