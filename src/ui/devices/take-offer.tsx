import { useId, useState, type FormEvent } from 'react';

/** How an offer begins; what else it holds is the owner's affair. */
const OFFER = /^\s*ROOST\d+\./u;

/** Ways to bring an offer here from the other device. */
export function TakeOffer({ onOffer }: { onOffer: (offer: string) => void }) {
  const id = useId();
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const take = (offer: string) => {
    if (OFFER.test(offer)) onOffer(offer);
    else setWrong('This is not an offer of Roost. It begins with ROOST1. and stands under the code on the new device.');
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    take(text);
  };
  return (
    <section className="devices-block" aria-label="Here">
      <h3>Here</h3>
      <form className="device-field" onSubmit={submit}>
        <label htmlFor={id}>The text under the code</label>
        <div className="device-line">
          <textarea
            id={id}
            className="field device-text"
            rows={2}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            placeholder="ROOST1.…"
            value={text}
            aria-invalid={wrong !== null}
            aria-describedby={`${id}-wrong`}
            onChange={(event) => {
              setText(event.target.value);
              setWrong(null);
            }}
          />
          <button type="submit" className="solid" disabled={text.trim() === ''}>
            Take it
          </button>
        </div>
        <p id={`${id}-wrong`} className="device-wrong" role="alert">
          {wrong ?? ''}
        </p>
      </form>
    </section>
  );
}
