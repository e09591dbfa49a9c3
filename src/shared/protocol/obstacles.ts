/** What keeps agents from beginning the tasks of a project, on the wire. */
import { z } from 'zod';
import type { TaskId } from '../domain/ids.ts';
import { OBSTACLES } from '../domain/obstacles.ts';
import { common, ms } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';

const obstacleSchema = z.object({
  why: z
    .enum(OBSTACLES)
    .describe(
      'agent-busy: it sleeps in the session, or a client drives it; blackout: quiet hours; concurrency: it has as many sessions as it may; minutes: its sessions have run as long today as they may; budget: the agent’s or the household’s; switched-off: waking it is; no-copy: the relay holds nothing to wake it from; gate: another of its wake limits; project-budget, task-budget: the project’s for the day, or the task’s; approval: a call of the run that works on the task waits for the person; unprepared: its checkout could not be made',
    ),
  detail: z.string().describe('a sentence for people'),
  until: ms.nullable().describe('when it is over by itself; null: not by waiting, or not known'),
});

/** `GET /v1/projects/{projectId}/obstacles` */
export const obstaclesSchema = z.object({
  project: obstacleSchema.nullable().describe('keeps every agent from beginning a task; null: nothing does'),
  agents: z
    .array(
      z.object({
        agentId: common.agentId,
        obstacle: obstacleSchema.nullable().describe('keeps its routines from beginning; null: nothing does'),
        columnIds: z
          .array(z.string())
          .nullable()
          .describe(
            'columns from which its routines take tasks; null: from any that is ready, because one works on no project in particular',
          ),
      }),
    )
    .describe('agents of the project'),
  tasks: z
    .array(z.object({ taskId: idOf<TaskId>(z.string().max(LIMITS.id)), obstacle: obstacleSchema }))
    .describe('tasks that something keeps from going on'),
});
export type ObstaclesAnswer = z.infer<typeof obstaclesSchema>;
