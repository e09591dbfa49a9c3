import { useId, useState } from 'react';
import { isHost, MOST_HOSTS } from '../../../shared/domain/network.ts';
import { t } from '../../language/t.ts';

const hostsIn = (text: string): string[] => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  ),
];

/** One host per line; saved when the field loses the focus. */
export function HostsField({ hosts, save }: { hosts: readonly string[]; save: (hosts: string[]) => void }) {
  const id = useId();
  const [text, setText] = useState(hosts.join('\n'));
  const named = hostsIn(text);
  const odd = named.find((host) => !isHost(host));
  const wrong =
    odd !== undefined
      ? t`${odd} is no host. Write it as example.org or example.org:8443.`
      : named.length > MOST_HOSTS
        ? t`There is room for ${MOST_HOSTS} hosts.`
        : null;
  return (
    <div className="above-4 stack gap-3">
      <label htmlFor={id}>{t`Hosts that it reaches, one in a line`}</label>
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
