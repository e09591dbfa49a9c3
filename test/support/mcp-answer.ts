/** What a small MCP server answers: who it is, the one tool it has, and what that says. */
export const mcpAnswer = (
  {
    method,
    params,
  }: { readonly method: string; readonly params?: { readonly protocolVersion?: string | undefined } | undefined },
  tool: object,
  says: string,
): object =>
  method === 'initialize'
    ? {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'test', version: '1' },
      }
    : method === 'tools/list'
      ? { tools: [tool] }
      : { content: [{ type: 'text', text: says }] };
