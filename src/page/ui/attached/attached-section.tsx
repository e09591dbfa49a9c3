/** MCP servers: other programs whose tools agents may use. */
import { t } from '../../language/t.ts';
import { attachedOf } from '../../state/attached.ts';
import { useRoost } from '../context.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { useTeammates } from '../use-teammates.ts';
import { AttachForm } from './attach-form.tsx';
import { ServerCard } from './server-card.tsx';
import './attached.css';

export function AttachedSection() {
  const attached = attachedOf(useRoost());
  const team = useTeammates();
  return (
    <div className="attached-section">
      <p className="settings-note">{t`An MCP server gives your agents tools: a calendar, a search, files elsewhere. None of its tools is used before you tick it here, and at first you are asked about each call; under Limits you can let them go ahead.`}</p>
      <QueryView query={attached.list} what={t`The MCP servers`}>
        {({ servers, programs, ...rules }) => (
          <>
            {servers.length === 0 && <p className="setting-hint">{t`None is connected yet.`}</p>}
            {servers.map((server) => (
              <ServerCard key={server.serverId} server={server} team={team} {...rules} why={rules.why} />
            ))}
            <h3>{servers.length === 0 ? t`Connect a server` : t`Connect another server`}</h3>
            <AttachForm programs={programs} {...rules} why={rules.why} />
          </>
        )}
      </QueryView>
      <p className="setting-hint">{t`Tokens and variables go to the relay once, lie there sealed, and are never shown or sent again. A tool that is another than you saw is off until you have looked at it again.`}</p>
    </div>
  );
}
