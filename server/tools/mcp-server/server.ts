/**
 * One MCP server instance: the team's tools, and the agent's own resources. It holds nothing of its
 * caller; who calls comes with each request, so one instance serves one request of the stateless
 * protocol as well as a session.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type RequestId,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { RunId } from '../../../src/shared/domain/ids.ts';
import type { Caller, SessionHost, TeamTool, ToolOutcome } from '../../contracts/index.ts';
import { misfitsOf } from '../../contracts/define-tool.ts';
import { joinedOf, type Joined } from './bearer.ts';
import type { Heard } from './heard.ts';
import type { Park } from './park.ts';
import type { AgentResource } from './resources.ts';
import { parkedSentence, INSTRUCTIONS, notBorn, WORKING } from './sayings.ts';
import { createProgress, type Progress, type ProgressDeps } from './progress.ts';

/**
 * JSON-RPC error of a resource that was not read because its agent sleeps: in the range that
 * servers may use as they like.
 */
const PAUSED_CODE = -32_010;

export interface McpServerDeps extends ProgressDeps {
  readonly tools: readonly TeamTool[];
  readonly resources: readonly AgentResource[];
  readonly park: Park;
  readonly heard: Heard;
  readonly version: string;
  readonly sessionId: () => string | null;
  readonly joined: SessionHost['joined'];
  readonly clientCalls: SessionHost['clientCalls'];
  readonly newborn: SessionHost['newborn'];
  /** A run of the relay's own has been told of its tools. */
  readonly onListed: (runId: RunId) => void;
  readonly newId: () => string;
  /** A fault of ours. Returns the id under which the log tells more. */
  readonly onFault: (error: unknown) => string;
}

/**
 * Called when a request begins; what it returns, when it is over. `cancelled`: nothing will be
 * answered.
 */
export type Busy = (id: RequestId) => (cancelled: boolean) => void;

/** JSON Schema as the plain JSON that it is on the wire. */
const inputSchemaOf = (input: z.ZodObject) =>
  z.record(z.string(), z.json()).parse(JSON.parse(JSON.stringify(z.toJSONSchema(input, { io: 'input' }))));

const described = ({ name, description, input, readOnly }: TeamTool): Tool => ({
  name,
  description,
  inputSchema: { ...inputSchemaOf(input), type: 'object' },
  annotations: { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false },
  // Claude Code hides the tools of a server behind a search otherwise.
  _meta: { 'anthropic/alwaysLoad': true },
});

const textResult = (text: string, isError: boolean) => ({ content: [{ type: 'text' as const, text }], isError });
const resultOf = ({ text, isError, picture }: ToolOutcome) => {
  const { content } = textResult(text, isError);
  if (!picture) return { content, isError };
  return { content: [...content, { type: 'image' as const, mimeType: picture.type, data: picture.data }], isError };
};

/** Answers with the way to make an instance. */
export function createServers(deps: McpServerDeps): (busy?: Busy) => Server {
  const { tools, resources, park, heard, version, sessionId, joined, newId, onFault } = deps;
  const byName = new Map(
    tools.filter(({ provider }) => !provider).map((tool) => [tool.name, { tool, described: described(tool) }]),
  );

  const callerOf = ({ agent, credentialId, readsSoul, run }: Joined, signal: AbortSignal): Caller => ({
    agentId: agent.agentId,
    sessionId: run ? run.sessionId : sessionId(),
    run: newId(),
    ...(run ? { runId: run.runId } : {}),
    kind: run ? (run.sessionId === null ? 'run' : 'session') : 'client',
    credential: { credentialId, readsSoul },
    signal,
  });
  /** The client has gone where it cancelled, or where nobody reads the answer any more. */
  const signalOf = ({ mcpReq, http }: ServerContext) =>
    http?.req ? AbortSignal.any([mcpReq.signal, http.req.signal]) : mcpReq.signal;

  /** Waits until the agent is awake. Null: it is; else why the call does not go on. */
  async function held({ agent, credentialId, secret }: Joined, signal: AbortSignal, progress: Progress) {
    const parked = await park.wait({ agentId: agent.agentId, credentialId, secret, signal, progress });
    return parked.go ? null : { words: parkedSentence(parked.held, parked.seconds), held: parked.held };
  }

  /** The same, once the agent is known to be here: being here may put it to sleep. */
  async function enter(who: Joined, signal: AbortSignal, progress: Progress) {
    const { agent, credentialId, label, run } = who;
    // A mind of the relay's own is here already.
    if (!run && sessionId() !== null) await joined(agent, { credentialId, name: label, readsInbox: true });
    return await held(who, signal, progress);
  }

  /** What an egg may call; null: this is none, or is born by now. */
  const birthOf = ({ agent, run }: Joined) => (run && deps.newborn(agent.agentId)?.birth) ?? null;

  function refuseHeld(why: Awaited<ReturnType<typeof held>>): void {
    if (why) throw new ProtocolError(PAUSED_CODE, why.words, { held: why.held });
  }

  /**
   * What the SDK or the client is told goes out as it is; everything else is a fault of ours, told
   * in the log.
   */
  async function answer<Result>(
    context: ServerContext,
    busy: Busy | undefined,
    run: (who: Joined, signal: AbortSignal, telling: Progress) => Promise<Result>,
  ): Promise<Result> {
    const done = busy?.(context.mcpReq.id);
    const signal = signalOf(context);
    const progress = createProgress(deps, context, signal);
    try {
      return await run(joinedOf(context), signal, progress);
    } catch (error) {
      if (error instanceof ProtocolError || signal.aborted) throw error;
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        `Something in the relay broke. Its log says more under ${onFault(error)}.`,
      );
    } finally {
      progress.stop();
      done?.(context.mcpReq.signal.aborted);
    }
  }

  const listedResources = resources.map(({ uri, name, title, description, mimeType }) => {
    return { uri, name, title, description, mimeType };
  });

  return (busy) => {
    /**
     * While the agent sleeps everything waits but `initialize` and `ping`, which the SDK answers.
     */
    const answerAwake = <Result>(context: ServerContext, run: Parameters<typeof answer<Result>>[2]) =>
      answer(context, busy, async (who, signal, telling) => {
        refuseHeld(await held(who, signal, telling));
        return await run(who, signal, telling);
      });
    const server = new Server(
      { name: 'roost', title: 'Roost', version },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
    );

    server.setRequestHandler('tools/list', (_request, context) =>
      answerAwake(context, async (who, signal) => {
        const caller = callerOf(who, signal);
        const listed: Tool[] = [];
        for (const each of byName.values())
          if ((await each.tool.allowed?.(caller)) ?? true) listed.push(each.described);
        if (who.run) deps.onListed(who.run.runId);
        return { tools: listed };
      }),
    );

    server.setRequestHandler('tools/call', ({ params }, context) =>
      answer(context, busy, async (who, signal, telling) => {
        const birth = birthOf(who);
        // An MCP client lists tools once. So an egg lists all of them, and may call those of its
        // birth only.
        if (birth)
          return birth.tools.includes(params.name)
            ? resultOf(await birth.call(params.name, params.arguments ?? {}))
            : textResult(notBorn(birth.tools), true);
        const asleep = await held(who, signal, telling);
        if (asleep) return textResult(asleep.words, true);
        const tool = byName.get(params.name)?.tool;
        const caller = callerOf(who, signal);
        if (!tool || !((await tool.allowed?.(caller)) ?? true))
          throw new ProtocolError(
            ProtocolErrorCode.InvalidParams,
            `There is no tool "${params.name}"; tools/list says which there are.`,
          );
        const input = tool.input.safeParse(params.arguments ?? {});
        if (!input.success)
          return textResult(`These arguments do not fit ${tool.name}. ${misfitsOf(tool, input.error)}.`, true);
        const entered = await enter(who, signal, telling);
        if (entered) return textResult(entered.words, true);
        telling.later(WORKING);
        const over = who.run ? null : deps.clientCalls(caller.agentId, tool.name, input.data);
        const listening = tool.waits ? await heard.listen(caller.agentId) : null;
        try {
          const outcome = await tool.run(input.data, {
            ...caller,
            ...(who.run ? {} : { sessionId: sessionId() }),
            ...(listening ? { heard: listening.signal } : {}),
          });
          return resultOf(outcome);
        } finally {
          listening?.stop();
          over?.();
        }
      }),
    );

    server.setRequestHandler('resources/list', (_request, context) =>
      answerAwake(context, () => Promise.resolve({ resources: listedResources })),
    );
    server.setRequestHandler('resources/templates/list', (_request, context) =>
      answerAwake(context, () => Promise.resolve({ resourceTemplates: [] })),
    );

    server.setRequestHandler('resources/read', ({ params }, context) =>
      answerAwake(context, async (who, signal, telling) => {
        const resource = resources.find(({ uri }) => uri === params.uri);
        if (!resource) throw new ResourceNotFoundError(params.uri);
        // Listed for an egg too, as its tools are.
        const birth = birthOf(who);
        if (birth) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, notBorn(birth.tools));
        refuseHeld(await enter(who, signal, telling));
        return { contents: [{ uri: resource.uri, mimeType: resource.mimeType, text: await resource.read(who.agent) }] };
      }),
    );
    return server;
  };
}
