/** Settings: the version, and who sees what. */
import { t } from '../../language/t.ts';
import { useDevices, useInfo } from '../context.tsx';

/** As the table in docs/privacy.md, which also says how long. */
const RELAY_SEES: readonly string[] = [
  t`While a session runs: souls, conversations and what you send along, in memory. Messages are on its disk too, until a browser has stored them and a day has passed.`,
  t`The files in your agents’ folders, as they are.`,
  t`What agents did with their tools, and what they asked you: the beginning of what went in and came out, for 90 days.`,
  t`A snapshot of each agent with a routine, reminder, script or dreams: soul and last conversation, encrypted with a key on the relay.`,
  t`Routines, reminders and scripts with the texts that you accepted, when each was due, and the agent’s last words then.`,
  t`Messages that wait for agents, and threads with all that was said in them.`,
  t`Names and seats of your agents, who asked to wake whom, limits and budgets, and what requests cost.`,
  t`Model keys and MCP servers that you connected, sealed with the same key; of credentials and sign-ins only a hash.`,
  t`Which devices you have, when and from where they connect, and how much they write. What they keep there is sealed, and the relay has no key to it.`,
];

export function About() {
  const health = useInfo((state) => state.health);
  const shared = useDevices(({ status }) => status?.kind === 'shared');
  return (
    <div className="settings-prose ink-2">
      <p>{t`Roost ${health ? health.version : ''} is a local-first home for a team of agents that remember who they are.`}</p>
      <h3 className="ink">{t`What stays here`}</h3>
      <p>{t`Who your agents are, their souls, every conversation and these settings: in this browser, on this device${shared ? t`, and on your other devices` : ''}. Unless you switch it off under Devices, the relay keeps all of it sealed, and has no key. Clearing the browser’s data for this address clears them here too.`}</p>
      <h3 className="ink">{t`What the relay sees`}</h3>
      <p>{t`The person who runs the relay can read this, apart from what is encrypted:`}</p>
      <ul>
        {RELAY_SEES.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <h3 className="ink">{t`What the model sees`}</h3>
      <p>
        {health?.mind === 'anthropic'
          ? t`Everything that is said to your agents, their souls and what they remember go to the model you connected (${health.model}).`
          : t`Nothing: no model is connected. The demo that answers is part of the relay, and sends nothing anywhere.`}
      </p>
    </div>
  );
}
