/**
 * What an agent's commands may reach of the network: nothing, hosts by name, or all that is public.
 */
import { useId, useState } from 'react';
import { isHost, MOST_HOSTS, type Network } from '../../../shared/domain/network.ts';
import { t } from '../../language/t.ts';
import { withCoordination } from '../../state/limits.ts';
import { baseName, inheritedText, useLimits } from './context.tsx';
import { SettingFrame, useSaved } from './setting.tsx';

const KINDS = { none: t`Nothing`, hosts: t`Hosts that I name`, all: t`All that is public` } as const;
type Kind = keyof typeof KINDS;
const isKind = (text: string): text is Kind => Object.hasOwn(KINDS, text);
const kindOf = (network: Network): Kind => (network === 'none' || network === 'all' ? network : 'hosts');
const hostsIn = (text: string): string[] => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  ),
];

/** One a line, as they are typed; saved when the field is left. */
function HostsField({ hosts, save }: { hosts: readonly string[]; save: (hosts: string[]) => void }) {
  const id = useId();
  const [text, setText] = useState(hosts.join('\n'));
  const named = hostsIn(text);
  const odd = named.find((host) => !isHost(host));
  const wrong =
    odd !== undefined
      ? t`${odd} is no host. One is written example.org, example.org:8443 or *.example.org.`
      : named.length > MOST_HOSTS
        ? t`There is room for ${MOST_HOSTS} hosts.`
        : null;
  return (
    <div className="network-hosts">
      <label htmlFor={id}>{t`Hosts, one a line`}</label>
      <textarea
        id={id}
        className="field"
        rows={Math.min(8, Math.max(3, named.length + 1))}
        spellCheck={false}
        autoCapitalize="off"
        placeholder={'api.example.com\n*.example.org\nexample.org:8443'}
        value={text}
        aria-invalid={wrong !== null}
        aria-describedby={wrong === null ? undefined : `${id}-wrong`}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => wrong === null && named.join() !== hosts.join() && save(named)}
      />
      {wrong !== null && (
        <p id={`${id}-wrong`} className="wrong-note" role="status">
          {wrong}
        </p>
      )}
    </div>
  );
}

export function NetworkField() {
  const { own, effective, base, scope, change } = useLimits();
  const id = useId();
  const saved = useSaved<Network>({
    own: own.network,
    save: (value) =>
      change((coordination) =>
        withCoordination(coordination, 'network', typeof value === 'object' ? [...value] : value),
      ),
  });
  const held = saved.saving ? (saved.saving.value ?? base.network) : effective.network;
  const inherits = own.network === undefined;
  return (
    <SettingFrame
      legend={t`What its commands reach of the network`}
      hint={t`By name, through the relay alone, and never this machine or its own networks. What an agent may read it may send there too. Without a port, a host is reached on 80 and 443; a server that also answers for others can be used to reach those.`}
      group
      saved={saved}
      describedBy={id}
      inherited={{
        text: inherits ? inheritedText(scope) : '',
        back: inherits ? null : () => void saved.set(undefined),
        backLabel: t`Set back to ${baseName(scope)}`,
      }}
    >
      <select
        className="field"
        aria-label={t`What its commands reach of the network`}
        value={kindOf(held)}
        onChange={({ target: { value } }) => {
          if (isKind(value)) void saved.set(value === 'hosts' ? [] : value);
        }}
      >
        {Object.entries(KINDS).map(([kind, words]) => (
          <option key={kind} value={kind}>
            {words}
          </option>
        ))}
      </select>
      {typeof held === 'object' && (
        <HostsField key={held.join()} hosts={held} save={(hosts) => void saved.set(hosts)} />
      )}
    </SettingFrame>
  );
}
