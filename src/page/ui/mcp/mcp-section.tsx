/** MCP servers: other programs whose tools agents may use. */
import { useState } from 'react';
import type { McpServer, McpTool } from '../../../shared/protocol/mcp.ts';
import { retold, t } from '../../language/t.ts';
import { mcpServersOf } from '../../state/mcp-servers.ts';
import { useRoost } from '../context.tsx';
import { SureDialog } from '../design/dialog.tsx';
import { type Teammates, useTeammates } from '../use-somebody.ts';
import { QueryView } from '../parts/page-head.tsx';
import { McpServerForm, BoxOf, type BoxRules } from './mcp-server-form.tsx';
import './mcp.css';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

// One MCP server: its state, its tools, and which of them agents may use.

const STATES: Record<McpServer['state'], string> = {
  connecting: t`Connecting…`,
  connected: t`connected`,
  failed: t`cannot be reached`,
  'sign-in': t`signed out`,
};

function noticeOf({ seen, gone, problem, hash }: McpTool): string | null {
  if (gone) return t`Removed by the server.`;
  if (problem !== null) return retold(problem);
  return seen && seen.hash !== hash
    ? t`It has changed since you allowed it, and is off until you allow it again.`
    : null;
}

function Tool({ tool, busy, onUse }: { tool: McpTool; busy: boolean; onUse: (use: boolean) => void }) {
  const notice = noticeOf(tool);
  const changed = tool.seen !== null && tool.seen.hash !== tool.hash && !tool.gone;
  return (
    <li className="mcp-tool round-s pad stack gap-3 narrow framed" data-off={!tool.use}>
      <label className="tick-line">
        <input
          type="checkbox"
          checked={tool.use}
          disabled={busy || tool.problem !== null || tool.gone}
          onChange={() => onUse(!tool.use)}
        />
        <span>
          <b dir="auto">{tool.title === '' ? tool.name : tool.title}</b>
          {tool.title !== '' && <code className="ink-3"> {tool.name}</code>}{' '}
          {tool.seen === null && tool.problem === null && <span className="tag">{t`new`}</span>}
        </span>
      </label>
      {notice !== null && <p className="clamp clip break ink-2">{notice}</p>}
      {tool.description !== '' && (
        <p className="clamp clip break ink-2" dir="auto">
          {tool.description}
        </p>
      )}
      {tool.readOnly && <p className="clamp clip break ink-2">{t`Read-only, says the server.`}</p>}
      <details>
        <summary>{changed ? t`What has changed` : t`What it takes`}</summary>
        {changed && tool.seen && (
          <>
            <h5>{t`As you saw it`}</h5>
            {tool.seen.title !== '' && (
              <p className="clamp clip break ink-2" dir="auto">
                <b>{tool.seen.title}</b>
              </p>
            )}
            <p className="clamp clip break ink-2" dir="auto">
              {tool.seen.description}
            </p>
            {tool.seen.readOnly && <p className="clamp clip break ink-2">{t`Read-only, says the server.`}</p>}
            <pre className="short text-1 scroll">{JSON.stringify(tool.seen.schema, null, 2)}</pre>
            <h5>{t`Now`}</h5>
          </>
        )}
        <pre className="short text-1 scroll">{JSON.stringify(tool.schema, null, 2)}</pre>
      </details>
    </li>
  );
}

/**
 * Shows whether the person is signed in to the server, and starts a sign-in. Its page opens in
 * another tab.
 */
function SignIn({ server, onFailed }: { server: McpServer; onFailed: (reason: string | null) => void }) {
  const mcpServers = mcpServersOf(useRoost());
  const { busy, act } = useAction();
  const [page, setPage] = useState<string | null>(null);
  const { serverId, name, state, signIn } = server;
  if (!signIn || (signIn.state === 'none' && state !== 'sign-in')) return null;
  const begin = () =>
    act(async () => {
      // Opened directly by the press, since browsers block windows that open later. The tab has no
      // access to this page.
      const tab = window.open('', '_blank');
      if (tab) tab.opener = null;
      const begun = await mcpServers.signIn(serverId);
      onFailed(begun.ok ? null : begun.reason);
      if (!begun.ok) return tab?.close();
      setPage(begun.url);
      return tab?.location.replace(begun.url);
    });
  const leave = () =>
    act(async () => {
      const done = await mcpServers.change((client) => client.signOutOfMcpServer({ serverId }));
      onFailed(done.ok ? null : done.reason);
    });
  const host = signIn.at ?? name;
  const words = {
    none:
      server.secrets.length > 0
        ? t`It refused the token. Sign in, or connect it with another token.`
        : t`Sign in to use it.`,
    waiting: t`Allow it on the page that has opened.`,
    in: signIn.as === null ? t`Signed in at ${host}.` : t`Signed in as ${signIn.as} at ${host}.`,
    expired: t`The sign-in at ${host} has expired.`,
  }[signIn.state];
  return (
    <div className="cluster gap-4" data-state={signIn.state}>
      <p role="status">
        <bdi>{words}</bdi>
        {signIn.state === 'waiting' && page !== null && (
          <>
            {' '}
            <a href={page} target="_blank" rel="noopener noreferrer">{t`Open`}</a>
          </>
        )}
      </p>
      {signIn.state !== 'in' && (
        <button
          type="button"
          className={signIn.state === 'waiting' ? 'ghost' : 'solid'}
          disabled={busy}
          aria-label={t`${signIn.state === 'waiting' ? t`Begin again` : t`Sign in`}: ${name}`}
          onClick={() => void begin()}
        >
          {signIn.state === 'waiting' ? t`Begin again` : t`Sign in`}
        </button>
      )}
      {(signIn.state === 'in' || signIn.state === 'waiting') && (
        <button type="button" className="ghost" disabled={busy} onClick={() => void leave()}>
          {signIn.state === 'in' ? t`Sign out` : t`Cancel`}
        </button>
      )}
    </div>
  );
}

function RemoveDialog({ server, onClose }: { server: McpServer; onClose: () => void }) {
  const mcpServers = mcpServersOf(useRoost());
  return (
    <SureDialog
      title={t`Remove ${server.name}`}
      does={t`Remove`}
      onSure={async () => {
        const done = await mcpServers.change((client) => client.removeMcpServer({ serverId: server.serverId }));
        return done.ok ? null : done.reason;
      }}
      onClose={onClose}
    >
      <p>{t`Agents lose its tools. The relay deletes its address and every token.`}</p>
    </SureDialog>
  );
}

function Who({
  server,
  team,
  busy,
  onAgents,
}: {
  server: McpServer;
  team: Teammates;
  busy: boolean;
  onAgents: (agents: string[] | null) => void;
}) {
  const among = team.all.filter(({ retired }) => !retired);
  const { agents } = server;
  return (
    <fieldset className="mcp-agents gap-5 flex wrap" disabled={busy}>
      <legend className="ink-2 under-3">{t`Who may use it`}</legend>
      <label className="tick-line">
        <input type="checkbox" checked={agents === null} onChange={() => onAgents(agents === null ? [] : null)} />
        {t`Everybody`}
      </label>
      {agents !== null &&
        among.map(({ agentId, name }) => (
          <label key={agentId} className="tick-line">
            <input
              type="checkbox"
              checked={agents.includes(agentId)}
              onChange={() =>
                onAgents(agents.includes(agentId) ? agents.filter((each) => each !== agentId) : [...agents, agentId])
              }
            />
            <span dir="auto">{name}</span>
          </label>
        ))}
    </fieldset>
  );
}

function ServerCard({
  server,
  team,
  ...held
}: {
  server: McpServer;
  team: Teammates;
} & BoxRules) {
  const mcpServers = mcpServersOf(useRoost());
  const { busy, failed, act, fail } = useAction();
  const [removing, setRemoving] = useState(false);
  const { serverId, version, name, where, secrets, state, problem, tools } = server;
  const run = (call: Parameters<typeof mcpServers.change>[0]) => act(() => mcpServers.change(call));
  const use = (some: readonly McpTool[], on: boolean) =>
    run((client) =>
      client.changeMcpServer({
        serverId,
        body: { tools: some.map(({ name: tool, hash }) => ({ name: tool, hash, use: on })) },
      }),
    );
  const usable = tools.filter(({ problem: misfit, gone }) => misfit === null && !gone);
  return (
    <article
      className="mcp-server ground-0 pad-wide box stack gap-5 narrow text-3"
      data-state={state}
      aria-label={name}
    >
      <header>
        <h4 className="text-4">{name}</h4>
        <span role="status">{busy ? t`Loading…` : STATES[state]}</span>
      </header>
      <p>
        <code>{where}</code>
        {secrets.length > 0 && <small> {t`with ${secrets.join(', ')}`}</small>}
      </p>
      {problem !== null && state !== 'sign-in' && <p role="status">{retold(problem)}</p>}
      <WrongNote text={failed} />
      <BoxOf server={server} {...held} />
      <SignIn server={server} onFailed={fail} />
      {tools.length > 0 && (
        <>
          <p className="setting-hint">
            {t`${usable.filter((tool) => tool.use).length} of ${usable.length} tools allowed. The descriptions are the server’s.`}
          </p>
          {usable.length > 1 && (
            <div className="flex wrap gap-4">
              <button
                type="button"
                className="ghost"
                disabled={busy}
                onClick={() =>
                  use(
                    usable,
                    usable.some((tool) => !tool.use),
                  )
                }
              >
                {usable.some((tool) => !tool.use) ? t`Allow all` : t`Allow none`}
              </button>
            </div>
          )}
          <ul className="stack gap-4" aria-label={t`Tools of ${name}`}>
            {tools.map((tool) => (
              <Tool key={tool.name} tool={tool} busy={busy} onUse={(on) => use([tool], on)} />
            ))}
          </ul>
          <Who
            server={server}
            team={team}
            busy={busy}
            onAgents={(agents) => void run((client) => client.changeMcpServer({ serverId, body: { agents, version } }))}
          />
        </>
      )}
      {state === 'connected' && tools.length === 0 && <p className="setting-hint">{t`none`}</p>}
      <div className="flex wrap gap-4">
        <button
          type="button"
          className="ghost"
          disabled={busy}
          onClick={() => void run((client) => client.retryMcpServer({ serverId }))}
        >{t`Try it`}</button>
        <button
          type="button"
          className="ghost ghost-danger"
          disabled={busy}
          onClick={() => setRemoving(true)}
        >{t`Remove`}</button>
      </div>
      {removing && <RemoveDialog server={server} onClose={() => setRemoving(false)} />}
    </article>
  );
}

export function McpSection() {
  const mcpServers = mcpServersOf(useRoost());
  const team = useTeammates();
  return (
    <div className="stack gap-6">
      <p className="settings-note under-6 ink-2 text-3">{t`An MCP server gives your agents tools, such as a calendar. You allow each tool here, and approve each call.`}</p>
      <QueryView query={mcpServers.list}>
        {({ servers, programs, ...rules }) => (
          <>
            {servers.map((server) => (
              <ServerCard key={server.serverId} server={server} team={team} {...rules} why={rules.why} />
            ))}
            <h3>{t`Connect a server`}</h3>
            <McpServerForm programs={programs} {...rules} why={rules.why} />
          </>
        )}
      </QueryView>
    </div>
  );
}
