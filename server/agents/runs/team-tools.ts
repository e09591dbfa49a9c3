/**
 * The tools that every agent has besides those of its session: their definitions for the mind, and
 * how they run.
 */
import { z } from 'zod';
import { deeperThan } from '../../../src/shared/domain/deeper-than.ts';
import { isRecord } from '../../../src/shared/domain/platform/json.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import type { MindTool } from '../minds/index.ts';
import { misfitsOf, toolError } from '../../tools/define-tool.ts';

const objectSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
  $defs: z.record(z.string(), z.unknown()).optional(),
});

/**
 * The registry in which the parts of the relay offer tools to agents. Agents read it when they
 * begin. So a part that offers tools may depend on the parts in which agents work.
 */
export interface TeamTools {
  offer(tools: readonly TeamTool[]): void;
  /** Registers a source of changing tools. It is asked each time. */
  offerFrom(source: () => readonly TeamTool[]): void;
  all(): readonly TeamTool[];
}

export function createTeamTools(): TeamTools {
  const offered: TeamTool[] = [];
  const sources: (() => readonly TeamTool[])[] = [];
  return {
    offer: (tools) => void offered.push(...tools),
    offerFrom: (source) => void sources.push(source),
    all: () => [...offered, ...sources.flatMap((source) => source())],
  };
}

/**
 * A limit of this many characters or more tells a mind nothing, because minds do not count that
 * far.
 */
const UNCOUNTED = 1_000;

/**
 * Whether a mind ignores this limit of a schema. Such limits cost tokens with every request, and
 * servers that compile a schema into a grammar fail on large ones. The tool checks them itself and
 * reports violations.
 */
function isIdle(key: string, bound: unknown): boolean {
  if (typeof bound !== 'number') return false;
  if (key === 'maxLength') return bound >= UNCOUNTED;
  return (key === 'minLength' && bound === 1) || (key === 'maximum' && bound === Number.MAX_SAFE_INTEGER);
}
function withoutIdle(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIdle);
  if (!isRecord(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => !isIdle(key, value));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutIdle(value)]));
}

/** Definitions by tool. Tools do not change, so each definition is made once. */
const written = new WeakMap<TeamTool, MindTool>();

/** The definition of a tool for a mind. */
export function mindToolOf(tool: TeamTool): MindTool {
  const before = written.get(tool);
  if (before) return before;
  const { properties, required, $defs } = objectSchema.parse(
    tool.schema ?? withoutIdle(z.toJSONSchema(tool.input, { io: 'input' })),
  );
  const mindTool: MindTool = {
    name: tool.name,
    description: tool.description,
    properties,
    required,
    ...($defs ? { definitions: $defs } : {}),
    ...(tool.provider ? { provider: tool.provider } : {}),
  };
  written.set(tool, mindTool);
  return mindTool;
}

/** The tools that this caller may use. */
export async function allowedTools(tools: readonly TeamTool[], caller: Caller): Promise<TeamTool[]> {
  const allowed = await Promise.all(tools.map(async (tool) => (await tool.allowed?.(caller)) ?? true));
  return tools.filter((_tool, i) => allowed[i]);
}

/**
 * Runs the tool of this name; null: there is none. Invalid input gives a sentence for the mind,
 * which may try again.
 */
export async function runTeamTool(
  tools: readonly TeamTool[],
  name: string,
  input: unknown,
  caller: Caller,
): Promise<ToolOutcome | null> {
  const tool = tools.find((one) => one.name === name);
  if (!tool || (tool.allowed && !(await tool.allowed(caller)))) return null;
  // The input is stored, shown and forwarded unchanged, by recursive code.
  if (deeperThan(input, LIMITS.jsonDepth))
    return toolError(`${name} could not be read: what it was given lies more than ${LIMITS.jsonDepth} levels deep.`);
  const parsed = tool.input.safeParse(input);
  if (parsed.success) return await tool.run(parsed.data, caller);
  return toolError(`${name} could not be read. ${misfitsOf(tool, parsed.error)}.`);
}
