/** What another client is told, ready to be pasted. `origin`: where this page and its relay are, without a slash at the end. */

interface ToPaste {
  readonly key: string;
  readonly title: string;
  readonly about: string;
  readonly text: string;
}

export function settingsToPaste(origin: string, secret: string): readonly ToPaste[] {
  return [
    {
      key: 'claude-code',
      title: 'Claude Code: Roost’s tools',
      about: 'Once, in a terminal. Inbox, threads, waking and the rest are then tools of that Claude Code.',
      text: `claude mcp add --transport http roost ${origin}/mcp --header "Authorization: Bearer ${secret}"`,
    },
    {
      key: 'mcp',
      title: 'Any other MCP client',
      about: 'Streamable HTTP. Where a client takes its settings as JSON, this is the entry.',
      text: JSON.stringify(
        {
          mcpServers: { roost: { type: 'http', url: `${origin}/mcp`, headers: { Authorization: `Bearer ${secret}` } } },
        },
        null,
        2,
      ),
    },
    {
      key: 'proxy',
      title: 'Claude Code, or any Anthropic client: the model through Roost',
      about:
        'Roost puts the real key in, counts what it costs, and holds requests while the agent is set to sleep. The key here may be anything.',
      text: `export ANTHROPIC_BASE_URL=${origin}/llm/${secret}\nexport ANTHROPIC_API_KEY=roost`,
    },
  ];
}

/** For an application, which is no agent. */
export function callsToPaste(origin: string, secret: string): readonly ToPaste[] {
  return [
    {
      key: 'sleep',
      title: 'Set an agent to sleep, or wake it',
      about:
        'NAME is an agent’s name or id; true lets it sleep, false wakes it, within its limits. GET tells how it is.',
      text: `curl -X PUT ${origin}/api/v1/sessions/current/NAME/sleeping -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"sleeping": true}'`,
    },
  ];
}
