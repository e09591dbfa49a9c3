/** ACP agents: agents such as Claude Code, that can be the mind of one of the team. */
import { retold } from '../../language/retold.ts';
import { t } from '../../language/t.ts';
import { programsOf } from '../../state/programs.ts';
import { useRoost } from '../context.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { ProgramCard } from './program-card.tsx';
import { ProgramForm } from './program-form.tsx';
import '../attached/attached.css';
import './programs.css';

export function ProgramsSection() {
  const { list } = programsOf(useRoost());
  return (
    <div className="attached-section">
      <p className="settings-note">{t`Claude Code, Codex, Gemini CLI and others can be an agent’s mind: it keeps its soul and its memory, and works with that program’s own hands, in its own folder. You choose it for each agent under Limits. Roost starts it when the agent wakes, and ends it with the session.`}</p>
      <QueryView query={list} what={t`The ACP agents`}>
        {({ programs, found, allowed, why }) => (
          <>
            {programs.length === 0 && <p className="setting-hint">{t`None is here yet.`}</p>}
            {programs.map((program) => (
              <ProgramCard key={program.programId} program={program} />
            ))}
            <h3>{programs.length === 0 ? t`Connect a program` : t`Connect another program`}</h3>
            {allowed && programs.length === 0 && found.length === 0 && (
              <p className="setting-hint">{t`None that Roost knows, such as Claude Code, Codex or Gemini CLI, was found on the relay’s machine. Install one there and sign in to it, then open this page again; or give the command of another.`}</p>
            )}
            {allowed ? (
              <ProgramForm found={found} />
            ) : (
              <p className="setting-hint">
                {why === undefined
                  ? t`This relay runs no programs for its pages. Start it with ${<code>--scripts</code>} to let it.`
                  : retold(why)}
              </p>
            )}
          </>
        )}
      </QueryView>
      <p className="setting-hint">{t`Such a program runs on the relay’s machine as whoever started the relay, and no sandbox of Roost’s is around it. What it asks before it acts stands under Approvals.`}</p>
    </div>
  );
}
