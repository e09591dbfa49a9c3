/**
 * A server that has several models, and may charge for them: one is chosen before anything is
 * asked.
 */
import { useId, useMemo, useState } from 'react';
import { t } from '../../language/t.ts';
import type { ConnectModel, ListedModel } from '../../../shared/protocol/models.ts';
import type { Connect } from './use-connect.ts';

interface Props {
  readonly given: ConnectModel;
  readonly models: readonly ListedModel[];
  readonly connect: Connect;
}

export function Choice({ given, models, connect }: Props) {
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const id = useId();
  const shown = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/);
    return models.filter((each) => wanted.every((word) => `${each.id} ${each.name}`.toLowerCase().includes(word)));
  }, [models, words]);
  const model = shown.some((each) => each.id === chosen) ? chosen : (shown[0]?.id ?? null);
  return (
    <form
      className="connect-form"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        if (model !== null) void connect({ ...given, model }, t`Asking it`);
      }}
    >
      <p id={id} role="status">
        {t`It has ${models.length} models. Choose one; nothing was asked yet.`}
      </p>
      <label className="connect-field">
        {t`Find a model`}
        <input
          className="field"
          type="search"
          value={words}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setWords(event.target.value)}
        />
      </label>
      <label className="connect-field">
        {t`Model`}
        <select className="field field-select" value={model ?? ''} onChange={(event) => setChosen(event.target.value)}>
          {shown.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" className="solid" disabled={model === null}>{t`Connect`}</button>
    </form>
  );
}
