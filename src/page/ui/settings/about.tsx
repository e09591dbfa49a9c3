/** Settings: the version, and who sees what. */
import { t } from '../../language/t.ts';
import { useDevices, useInfo } from '../context.tsx';

/** The same list as in docs/privacy.md, which also says how long each is stored. */
const RELAY_SEES: readonly string[] = [
  t`During a session: souls, conversations and attachments, in memory. Messages stay on its disk until a day after a browser has stored them.`,
  t`The files in your agents’ folders, as they are.`,
  t`Tool calls and approvals of agents: the beginning of input and output, for 90 days.`,
  t`Soul and last conversation of each agent with a routine, reminder, script or dreams. They are encrypted with a key on the relay.`,
  t`Routines, reminders and scripts with their texts, when each was due, and the agent’s last words then.`,
  t`Waiting messages, all threads, and the names, seats, wakes, limits, budgets and costs of agents.`,
  t`Model keys and MCP servers, encrypted with the same key. Credentials and sign-ins only as a hash.`,
  t`Your devices, when and from where they connect, and how much they write. Their data is sealed, and the relay has no key to it.`,
];

export function About() {
  const health = useInfo((state) => state.health);
  const shared = useDevices(({ status }) => status?.kind === 'shared');
  return (
    <div className="settings-prose ink-2">
      <p>{t`Roost ${health ? health.version : ''} is a local-first home for a team of agents that remember who they are.`}</p>
      <h3 className="ink">{t`What stays here`}</h3>
      <p>{t`Your agents, every conversation and these settings are in this browser${shared ? t` and on your other devices` : ''}. The relay has a sealed copy and no key, unless you switch that off under Devices. Clearing the browser’s data deletes them here.`}</p>
      <h3 className="ink">{t`What the relay sees`}</h3>
      <p>{t`The relay’s owner can read this, apart from what is encrypted:`}</p>
      <ul>
        {RELAY_SEES.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <h3 className="ink">{t`What the model sees`}</h3>
      <p>
        {health?.mind === 'anthropic'
          ? t`Everything you say to your agents, their souls and their memories (${health.model}).`
          : t`Nothing. The demo is part of the relay and sends nothing anywhere.`}
      </p>
    </div>
  );
}
