/** A model server of one's own: found on the relay's machine, or by its address. */
import { useState } from 'react';
import { t } from '../../language/t.ts';
import type { FoundServer, Models } from '../../../shared/protocol/models.ts';
import { useRoost } from '../context.tsx';
import { KeyField } from './key-field.tsx';
import type { Connect } from './use-connect.ts';

function Found({ found, connect, busy }: { found: readonly FoundServer[]; connect: Connect; busy: boolean }) {
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  if (found.length === 0)
    return (
      <p
        className="connect-note"
        role="status"
      >{t`Nothing answers here. Start Ollama, LM Studio, llama.cpp or vLLM on the machine where Roost runs, then look again.`}</p>
    );
  return (
    <ul className="connect-found" aria-label={t`Found on this machine`}>
      {found.map(({ program, address, models }) => (
        <li key={address}>
          <b>{program}</b>
          {models.length === 0 ? (
            <span className="connect-note">{t`has no model yet`}</span>
          ) : (
            <>
              <select
                className="field field-select"
                aria-label={t`Model of ${program}`}
                value={chosen[address] ?? models[0]?.id}
                onChange={(event) => setChosen({ ...chosen, [address]: event.target.value })}
              >
                {models.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
              <button
                type="button"
                className="solid"
                disabled={busy}
                onClick={() =>
                  void connect(
                    { kind: 'server', address, model: chosen[address] ?? models[0]?.id ?? '' },
                    t`Asking ${program}; it may have to load the model first`,
                  )
                }
              >{t`Connect`}</button>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

export function ServerForm({ connect, busy, may }: { connect: Connect; busy: boolean; may: Models['may'] }) {
  const { models } = useRoost();
  const [address, setAddress] = useState('');
  const [key, setKey] = useState('');
  const [model, setModel] = useState('');
  const [looking, setLooking] = useState(false);
  const [found, setFound] = useState<readonly FoundServer[] | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const look = async () => {
    setLooking(true);
    const result = await models.change((client) => client.findServers());
    setLooking(false);
    setFailed(result.ok ? null : result.reason);
    setFound(result.ok ? result.value.found : null);
  };
  return (
    <>
      {may === 'any' && (
        <div className="connect-look">
          <button type="button" className="ghost" disabled={looking || busy} onClick={() => void look()}>
            {looking ? t`Looking…` : t`Look for one here`}
          </button>
          <p className="connect-note">{t`Asks the usual ports of the machine where Roost runs, and nothing else.`}</p>
          {failed !== null && (
            <p className="wrong-note" role="alert">
              {failed}
            </p>
          )}
          {found && <Found found={found} connect={connect} busy={busy} />}
        </div>
      )}
      <form
        className="connect-form"
        onSubmit={(event) => {
          event.preventDefault();
          const given = {
            kind: 'server',
            address: address.trim(),
            ...(key.trim() === '' ? {} : { key: key.trim() }),
            ...(model.trim() === '' ? {} : { model: model.trim() }),
          } as const;
          void connect(given, t`Asking it`).then((ok) => ok && setKey(''));
        }}
      >
        <label className="connect-field">
          {t`Address`}
          <input
            className="field"
            type="url"
            inputMode="url"
            value={address}
            placeholder={may === 'any' ? 'http://127.0.0.1:11434' : 'https://models.example.org'}
            autoComplete="off"
            onChange={(event) => setAddress(event.target.value)}
          />
          <span className="setting-hint">{t`A server that speaks Anthropic’s, OpenAI’s or Google’s protocol. Paste what its documentation calls “base URL”.`}</span>
        </label>
        <KeyField label={t`Key, if it wants one`} value={key} onChange={setKey} />
        <label className="connect-field">
          {t`Model, if it does not list any`}
          <input
            className="field"
            value={model}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setModel(event.target.value)}
          />
        </label>
        <button type="submit" className="solid" disabled={busy || address.trim() === ''}>{t`Connect`}</button>
      </form>
    </>
  );
}
