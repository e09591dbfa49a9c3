/** Mappings on the wire: a mapping lets a routine of an agent work on a project. */
import { z } from 'zod';
import type { MappingId, ProjectId, ScheduleId } from '../domain/ids.ts';
import { common, ms } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';
import { PROJECT_LIMITS } from './projects.ts';
import { SCHEDULE_BOUNDS } from './schedules.ts';
import { namedVersionSchema, versionSchema } from './version.ts';

/** Projects on which one routine may work. Each of them is told to every run. */
export const MOST_MAPPINGS = 20;

const id = z
  .string()
  .min(1)
  .max(LIMITS.id)
  // The store rejects a query with a NUL.
  .refine((text) => !text.includes('\0'), 'there is no such id');
const projectId = idOf<ProjectId>(id);
const routineId = idOf<ScheduleId>(id);

const settings = {
  columnIds: z
    .array(id)
    .max(PROJECT_LIMITS.columns)
    .nullable()
    .describe(
      'columns of the project from which a run takes tasks, of any kind but done; null: those of the routine’s `pulse_columns`; empty: none',
    ),
  toolOverrides: z
    .array(z.string().min(1).max(100))
    .max(SCHEDULE_BOUNDS.tools)
    .nullable()
    .describe(
      'names of the tools that a run has, among those that the agent may use; null: the routine’s `tools`; empty: none',
    ),
  separate: z
    .boolean()
    .describe('the project has a run of its own; otherwise one run is about all projects of the routine'),
};

/** A mapping as its record has it. */
export const mappingValueSchema = z.strictObject({
  projectId,
  routineId,
  agentId: common.agentId,
  ...settings,
  createdAt: ms,
  removed: z.boolean().describe('the routine works on the project no more'),
});
export type MappingValue = z.infer<typeof mappingValueSchema>;

export const mappingSchema = z.object({
  ...mappingValueSchema.omit({ removed: true }).shape,
  mappingId: idOf<MappingId>(id),
  version: versionSchema,
  name: z.string().describe('the routine’s name'),
  enabled: z.boolean().describe('the routine is switched on'),
  waits: z
    .boolean()
    .describe('it came from a copy, another device or another relay, and is not used until it is saved here'),
});
export type Mapping = z.infer<typeof mappingSchema>;
export const mappingsSchema = z.object({ mappings: z.array(mappingSchema).describe('oldest first') });

/** `POST …/routines` */
export const createMappingSchema = z.strictObject({
  routineId,
  columnIds: settings.columnIds.default(null),
  toolOverrides: settings.toolOverrides.default(null),
  separate: settings.separate.default(false),
});
/** `PUT …/routines/{mappingId}`: fields that are left out stay as they are. */
export const changeMappingSchema = z.strictObject({
  ...z.object(settings).partial().shape,
  version: namedVersionSchema,
});

/** `GET …/routines/resolve` */
const resolvedSchema = z.object({
  mappingId: idOf<MappingId>(id),
  routineId,
  name: z.string().describe('the routine’s name'),
  columns: z.array(z.string()).describe('ids of the project’s columns from which the run takes ready tasks'),
  tools: z
    .array(z.string())
    .describe('names of all tools that the run has; of several projects in one run, those that all of them allow'),
  planningModel: z.string().nullable().describe('model of the run; null: the agent’s own'),
  executorModel: z.string().nullable().describe('model of the executors that the run starts; null: the agent’s own'),
  projectIds: z.array(projectId).describe('all projects that the run is about'),
});
export const resolvedMappingsSchema = z.object({
  resolved: z.array(resolvedSchema).describe('what the next run of each routine has; oldest mapping first'),
});
