export default function CostsPage({ onClose }: { onClose: () => void }) {
  return <button type="button" onClick={onClose}>Close</button>;
}
