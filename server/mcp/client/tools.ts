/**
 * The tools of an MCP server as agents receive them. A call runs only while the tool is the one
 * that the person has reviewed.
 */
import { z } from 'zod';
import { shownText } from '../../../src/shared/domain/names.ts';
import type { McpTool } from '../../../src/shared/protocol/mcp.ts';
import type { AskPerson } from '../../approvals/requests/contract.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { toolError } from '../../tools/define-tool.ts';
import type { Asks } from './elicitation.ts';
import { LinkError, type Link } from './link-types.ts';
import { mindSchemaOf } from './mind-schema.ts';
import { answerOf } from './offered.ts';
import { MCP_LIMITS } from './settings.ts';
import type { Value } from './server-state.ts';

/** The parts of a server that are used here. */
export interface Usable {
  readonly serverId: string;
  readonly name: string;
  value: Value;
  readonly link: Link;
  /** One object per version of a tool, because minds compare tools by identity. */
  readonly made: Map<string, { readonly hash: string; readonly tool: TeamTool }>;
}

export interface ToolOfDeps<One extends Usable> {
  readonly isConnected: (one: One) => boolean;
  /** The current tools. */
  readonly toolsOf: (one: One) => readonly McpTool[];
  readonly askPerson: AskPerson;
}

export function createToolOf<One extends Usable>({ isConnected, toolsOf, askPerson }: ToolOfDeps<One>) {
  /** `again`: the server had forgotten its connection, and is connected anew. */
  async function run(
    server: One,
    wanted: McpTool,
    input: Record<string, unknown>,
    caller: Caller,
    again = false,
  ): Promise<ToolOutcome> {
    const { name, hash } = wanted;
    if (!isConnected(server)) return toolError(`The server ${server.name} is not connected any more.`);
    await server.link.open();
    const tool = toolsOf(server).find((each) => each.name === name);
    if (!tool || tool.gone || !tool.use || tool.hash !== hash) {
      const { state, problem } = server.link.status();
      return toolError(
        state === 'connected'
          ? `${name} of ${server.name} is not what it was when the human looked at it, and is off until they have looked again.`
          : `The server ${server.name} cannot be reached: ${problem ?? 'it does not answer'}.`,
      );
    }
    try {
      const asks: Asks = {
        agentId: caller.agentId,
        person: (question, signal) =>
          askPerson({ tool: wanted.called, question: { server: server.name, ...question }, caller, signal }),
      };
      const answered = await server.link.call(name, input, asks, caller.signal, again);
      return { ...answerOf(server.name, name, answered), isError: answered.isError };
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      if (error.isUndone && !again) return await run(server, wanted, input, caller, true);
      return toolError(`${name} of the server ${server.name} gave no answer: ${error.message}.`);
    }
  }

  return function toolOf(one: One, tool: McpTool): TeamTool {
    const before = one.made.get(tool.name);
    if (before?.hash === tool.hash) return before.tool;
    const read = mindSchemaOf(tool.schema, MCP_LIMITS);
    // Models read a description per property. The description of the whole input becomes part of
    // the tool's.
    const whole =
      read.ok && typeof read.schema['description'] === 'string' ? shownText(read.schema['description']) : '';
    const made: TeamTool = {
      name: tool.called,
      description: `${tool.name} of ${one.name}, an MCP server that the human has connected. It says of itself: ${[tool.description, whole].filter((words) => words !== '').join(' ')}`,
      input: z.looseObject({}),
      schema: read.ok ? read.schema : { type: 'object', properties: {} },
      // A server's own claims are not trusted.
      readOnly: false,
      allowed: ({ agentId }) => Promise.resolve(one.value.agents?.includes(agentId) ?? true),
      run(input, caller) {
        const given = z.record(z.string(), z.unknown()).parse(input);
        return run(one, tool, read.ok ? read.back(given) : given, caller);
      },
    };
    one.made.set(tool.name, { hash: tool.hash, tool: made });
    return made;
  };
}
