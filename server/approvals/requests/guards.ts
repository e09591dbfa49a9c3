/** Guards of tools: a call runs, waits for the person's yes, or is refused, as its grant says. */
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import type { AllowedBy } from '../../../src/shared/protocol/approvals.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { toolDone, toolError } from '../../tools/define-tool.ts';
import { charactersIn } from '../../platform/json-bounds.ts';
import type { StoredCall, NewCall } from './rows.ts';
import type { Approvals } from './contract.ts';
import { SWITCHED_OFF, TOO_LONG, TOO_MANY, WAITS, WAITS_IN_A_RUN } from './notify-agent.ts';
import type { Let } from './granted.ts';
import { CALL_LIMITS } from './settings.ts';
import type { ApprovalsBase } from './base.ts';

/**
 * The effects of these tools lie outside the store. So the relay records that a call runs before it
 * runs.
 */
const leavesTraces = ({ name, readOnly }: TeamTool) => {
  const toolset = toolsetOf(name);
  return !readOnly && (toolset === 'files' || toolset === 'shell' || toolset === 'attached');
};

export type Guards = ReturnType<typeof createGuards>;

export function createGuards(base: ApprovalsBase) {
  const { pins, rows, contents, grantFor, letBy, question, newCall, changed, counted, beside, newId, now } = base;
  const guarded = new Map<string, TeamTool>();
  /** Tools that come and go. */
  const sources: (() => readonly TeamTool[])[] = [];
  const guards = new WeakMap<TeamTool, TeamTool>();
  const toolNamed = (name: string) =>
    guarded.get(name) ?? sources.flatMap((source) => source()).find((tool) => tool.name === name);

  async function run(tool: TeamTool, input: unknown, caller: Caller, allowedBy: AllowedBy): Promise<ToolOutcome> {
    const call = newCall(tool.name, input, caller);
    const first = leavesTraces(tool);
    if (first) await rows.add(call, 'running', allowedBy);
    const over = (ended: { readonly text: string; readonly isError: boolean }) => {
      counted();
      beside(
        first ? rows.end(call.callId, input, ended, now()) : rows.add(call, 'done', allowedBy, { ...ended, at: now() }),
        'A tool call could not be stored.',
      );
    };
    try {
      const outcome = await tool.run(input, caller);
      // Nothing was done, and the person is asked. The activity has no entry for this attempt.
      if (outcome.changed) {
        if (first) await rows.remove(call.callId);
      } else over(outcome);
      return outcome;
    } catch (error) {
      over({ text: 'The relay had an error.', isError: true });
      throw error;
    }
  }

  /** A provider runs this call. It is recorded from its beginning, however it ends. */
  const begunOf =
    ({ name }: TeamTool): NonNullable<TeamTool['begun']> =>
    (input, caller) => {
      const call = newCall(name, input, caller);
      const added = rows.add(call, 'running', 'grant');
      beside(added, 'A tool call could not be stored.');
      return (outcome) => {
        const endedAt = now();
        beside(
          added.then(() => rows.end(call.callId, input, outcome, endedAt)).then(counted),
          'The end of a tool call could not be stored.',
        );
      };
    };

  /** Whether a waiting question has the same key. The new question replaces it. */
  function takesPlaceOf({ name, asking }: TeamTool, input: unknown): (one: StoredCall) => boolean {
    const key = asking?.keyOf(input);
    return (one) => one.tool === name && key !== undefined && asking?.keyOf(JSON.parse(one.input)) === key;
  }

  async function ask(
    tool: TeamTool,
    given: unknown,
    caller: Caller,
    { before }: Pick<Let & { readonly by: 'ask' }, 'before'>,
  ): Promise<ToolOutcome> {
    const ready = (await tool.prepare?.(given, caller)) ?? { input: given };
    if (!('input' in ready)) return ready;
    const { input } = ready;
    if (charactersIn(input) > CALL_LIMITS.askedInput) return toolError(TOO_LONG);
    const text = JSON.stringify(input ?? null);
    if (text.length > CALL_LIMITS.askedInput) return toolError(TOO_LONG);
    const words = caller.kind === 'run' ? WAITS_IN_A_RUN : WAITS;
    const lies = await pins.of({ agentId: caller.agentId, folder: caller.folder, tool: tool.name, input });
    const answer = await question(
      newCall(tool.name, input, caller),
      text,
      { now: lies, before },
      { replaces: takesPlaceOf(tool, input) },
    );
    if (answer === null) return toolError(TOO_MANY);
    changed(caller.agentId);
    return { ...toolDone(words), asks: true };
  }

  /** Returns the same guard for the same tool each time, because minds are told of a tool once. */
  function guard(tool: TeamTool): TeamTool {
    const before = guards.get(tool);
    if (before) return before;
    const made: TeamTool = {
      ...tool,
      async allowed(caller) {
        const held = await grantFor(caller.agentId, tool.name);
        return (tool.provider ? held === 'allow' : held !== 'off') && ((await tool.allowed?.(caller)) ?? true);
      },
      ...(tool.provider ? { begun: begunOf(tool) } : {}),
      async run(input, caller) {
        const call = { agentId: caller.agentId, folder: caller.folder, tool: tool.name, input };
        const permission = await letBy(call);
        switch (permission.by) {
          case 'off':
            return toolError(SWITCHED_OFF);
          case 'ask':
            return await ask(tool, input, caller, permission);
          case 'allow':
            return tool.asking
              ? await ask(tool, input, caller, { before: null })
              : await run(tool, input, caller, 'grant');
          case 'command': {
            const agreedTo = permission.with ? { agreed: contents.agreed(call, permission.with.pinned) } : {};
            const outcome = await run(tool, input, { ...caller, ...agreedTo }, 'command');
            if (!outcome.changed) return outcome;
            return await ask(tool, input, caller, { before: permission.with?.pinned?.files ?? null });
          }
        }
      },
    };
    guards.set(tool, made);
    return made;
  }

  const asking: Pick<Approvals, 'guard' | 'guardFrom' | 'ofRelay' | 'askAlone' | 'askFor'> = {
    guard: (tools) =>
      tools.map((tool) => {
        if (toolsetOf(tool.name) === null) throw new Error(`No toolset has a tool ${tool.name}`);
        guarded.set(tool.name, tool);
        return guard(tool);
      }),
    guardFrom(source) {
      sources.push(source);
      return () => source().map(guard);
    },
    ofRelay: (tool) => void guarded.set(tool.name, tool),
    async askAlone(agentId, name, input, before) {
      const tool = toolNamed(name);
      if (!tool) throw new Error(`There is no tool ${name}`);
      const pinned = await pins.of({ agentId, tool: name, input });
      const ids = { callId: newId(), agentId, sessionId: null, runId: null };
      const call: NewCall = { ...ids, place: 'relay', tool: name, input, askedAt: now() };
      const content = { now: pinned, before: before && [before] };
      const callId = await question(call, JSON.stringify(input), content, { replaces: takesPlaceOf(tool, input) });
      // A question that waited now covers the file's current content.
      const waits = callId === null || callId === call.callId ? null : await rows.get(callId);
      if (waits && (await contents.fresh(waits)) === waits) return;
      changed(agentId);
    },
    async askFor(name, input, caller) {
      const tool = toolNamed(name);
      if (!tool) throw new Error(`There is no tool ${name}`);
      return await ask(tool, input, caller, { before: null });
    },
  };
  return { toolNamed, asking };
}
