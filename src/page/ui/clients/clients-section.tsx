import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { useTeammates, type Teammate } from '../use-teammates.ts';
import { CredentialList } from './credential-list.tsx';
import { MakeCredential } from './make-credential.tsx';
import './clients.css';

/**
 * Letting another client be one of the team: a program of yours, on this machine or another, that
 * acts as an agent.
 */
export function ClientsSection() {
  const team = useTeammates();
  const here = team.all.filter(({ retired }) => !retired);
  // Most programs act as an agent: the lead stands behind them.
  const isAgent = ({ agentId }: Teammate) => agentId !== LEAD_ID;
  return (
    <div className="clients">
      <p className="settings-note">{t`A program such as Claude Code, or any other that speaks MCP or Anthropic’s API, can act as one of your agents, or as the lead. It is let in with a credential that you make here: one for each program, so that each can be revoked alone.`}</p>
      <h3>{t`What a credential lets it do`}</h3>
      <ul className="may">
        <li>{t`Read its own inbox and threads, the names of the others, and what is left of its own limits.`}</li>
        <li>{t`Write to the others and ask for them to be woken, within the limits that hold for its agent.`}</li>
        <li>{t`Have requests answered by your model, which cost money, within its daily budget.`}</li>
        <li>{t`Set itself to sleep or wake itself. Others only where you allow it.`}</li>
      </ul>
      <p className="setting-hint">{t`Where you tick it, it may also read its own agent’s soul and last conversation, while a session runs in which you woke that agent, and then write the soul anew; the earlier one is kept. What it reads goes to the program and its model.`}</p>
      <p className="setting-hint">{t`It cannot read anything else of souls and conversations, see the key to your model, change limits or budgets, or make credentials.`}</p>
      <p className="setting-hint">{t`An application is no agent: it calls Roost by plain HTTP, under a name of its own, and may do what you tick. The guide to the API has an example.`}</p>
      <h3>{t`Let one in`}</h3>
      <MakeCredential among={[...here.filter(isAgent), ...here.filter((one) => !isAgent(one))]} applications />
      <h3>{t`Who is let in`}</h3>
      <CredentialList agentId={null} team={team} />
    </div>
  );
}
