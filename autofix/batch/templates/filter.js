const form = document.getElementById("filter");
if (form) {
  const rows = Array.from(document.getElementById("rows").rows);
  const words = document.getElementById("words"), group = document.getElementById("group");
  const show = () => {
    const wanted = words.value.toLowerCase(), column = group.value === "" ? 0 : Number(group.value) + 1;
    let count = 0;
    for (const row of rows) {
      const fits = row.cells[0].textContent.toLowerCase().includes(wanted) && (!column || row.cells[column].textContent);
      row.hidden = !fits;
      count += fits ? 1 : 0;
    }
    document.getElementById("count").textContent = `${count} of ${rows.length}`;
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show();
}
