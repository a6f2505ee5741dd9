// HTML and SVG. Everything that is not written here is escaped.

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text) {
  return String(text).replace(/[&<>"']/g, (character) => ENTITIES[character]);
}

export function page(title, body) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<h1>${escapeHtml(title)}</h1>
${body}
</html>
`;
}

export function messagePage(text) {
  return page(text, '');
}

const BAR = { height: 24, width: 300, left: 80 };

/** `rows`: each with a month and an amount. */
export function chartPage(title, rows) {
  const highest = Math.max(...rows.map(({ amount }) => amount), 1);
  const bars = rows.map(({ month, amount }, index) => {
    const y = index * BAR.height;
    const width = (Math.max(amount, 0) / highest) * BAR.width;
    return `<text x="0" y="${y + 16}">${escapeHtml(month)}</text>
<rect x="${BAR.left}" y="${y + 3}" width="${width}" height="${BAR.height - 6}" fill="steelblue"/>
<text x="${BAR.left + width + 6}" y="${y + 16}">${escapeHtml(amount)}</text>`;
  });
  const size = `width="${BAR.left + BAR.width + 100}" height="${rows.length * BAR.height}"`;
  const chart = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escapeHtml(title)}">
${bars.join('\n')}
</svg>`;
  return page(title, rows.length > 0 ? chart : '<p>No orders.</p>');
}
