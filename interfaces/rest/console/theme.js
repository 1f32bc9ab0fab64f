// Loaded before the first paint: the chosen theme must not flash the other one first.
{
  let chosen = null
  try {
    chosen = localStorage.getItem('ottla-theme')
  } catch {
    // Without storage the theme is the system's.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
}
