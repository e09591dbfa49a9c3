/** Where a conversation is still read. */
export function Skeleton({ label = 'Reading the conversation' }: { label?: string }) {
  return (
    <div className="chat-skeleton" role="status" aria-label={label}>
      {[0, 1, 2].map((row) => (
        <div key={row}>
          <i />
          <span />
          <span />
        </div>
      ))}
    </div>
  );
}
