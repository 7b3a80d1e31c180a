"""The shop inside: settings of django-oscar, its world written through its own models, its WSGI application."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import django
from django.apps import apps
from django.conf import settings
from django.core.files.storage import FileSystemStorage

FLOW = ("Pending", "Processing", "Shipped", "Complete")
"""The states of an order, in order; it can be cancelled until it is shipped."""
ZONE = timezone.utc  # noqa: UP017 -- the Python of an application may be older
urlpatterns: list[Any] = []


class VisitStorage(FileSystemStorage):
    """Uploads go to the folder of the visit, which is the working directory of its process."""

    @property
    def base_location(self) -> str:
        return "media"

    @property
    def location(self) -> str:
        return os.path.abspath("media")


def _set_up() -> None:
    from oscar import INSTALLED_APPS
    from oscar.defaults import OSCAR_DASHBOARD_NAVIGATION

    defaults = {key: value for key, value in vars(__import__("oscar.defaults").defaults).items() if key.isupper()}
    defaults |= {
        "OSCAR_SHOP_NAME": "Oscar",
        "OSCAR_MODERATE_REVIEWS": False,
        "OSCAR_DASHBOARD_NAVIGATION": OSCAR_DASHBOARD_NAVIGATION,
        "OSCAR_INITIAL_ORDER_STATUS": FLOW[0],
        "OSCAR_INITIAL_LINE_STATUS": FLOW[0],
        "OSCAR_ORDER_STATUS_PIPELINE": {
            status: (*FLOW[at + 1 : at + 2], *(("Cancelled",) if at < 2 else ())) for at, status in enumerate(FLOW)
        }
        | {"Cancelled": ()},
        "OSCAR_SEND_REGISTRATION_EMAIL": False,
    }
    processors = [
        "django.template.context_processors.request",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
        "oscar.apps.search.context_processors.search_form",
        "oscar.apps.checkout.context_processors.checkout",
        "oscar.apps.communication.notifications.context_processors.notifications",
        "oscar.core.context_processors.metadata",
    ]
    settings.configure(
        **defaults,
        ALLOWED_HOSTS=["*"],
        AUTHENTICATION_BACKENDS=["oscar.apps.customer.auth_backends.EmailBackend"],
        CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": "db.sqlite3",
                "ATOMIC_REQUESTS": True,
                "OPTIONS": {"init_command": "PRAGMA synchronous = OFF"},
            }
        },
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        EMAIL_BACKEND="django.core.mail.backends.dummy.EmailBackend",
        HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": "search"}},
        INSTALLED_APPS=INSTALLED_APPS,
        LANGUAGE_CODE="en-gb",
        MEDIA_URL="/media/",
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
            "oscar.apps.basket.middleware.BasketMiddleware",
        ],
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        ROOT_URLCONF=__name__,
        SECRET_KEY="not secret: the shop is reached from its own machine alone",
        SESSION_COOKIE_AGE=10 * 365 * 24 * 3600,
        SITE_ID=1,
        STATIC_ROOT="static",
        STATIC_URL="/static/",
        STORAGES={
            "default": {"BACKEND": f"{__name__}.VisitStorage"},
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
        },
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": processors},
            }
        ],
        TIME_ZONE="UTC",
        USE_TZ=True,
    )
    django.setup()
    from django.urls import include, path

    urlpatterns[:] = [
        path("i18n/", include("django.conf.urls.i18n")),
        path("", include(apps.get_app_config("oscar").urls[0])),
    ]


def install() -> None:
    """Make an empty database and gather the static files."""
    _set_up()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def application() -> Any:
    """The WSGI application, all of whose code and templates of common pages are loaded."""
    _set_up()
    from django.core.wsgi import get_wsgi_application
    from django.test import RequestFactory

    served = get_wsgi_application()
    for path in ("/catalogue/", "/dashboard/login/", "/basket/"):
        response = served(RequestFactory().get(path).environ, lambda *_: None)
        response.close()
    return served


def seed(world: dict[str, Any]) -> dict[str, Any]:
    """Write a world into the empty database, and return the cookies of its log-ins by role."""
    _set_up()
    from django.core.management import call_command
    from django.db import transaction

    with transaction.atomic():
        _people(world)
        _catalogue(world)
        _orders(world)
        _reviews(world)
        logins = {"customer": _log_in(world["customers"][0]["id"]), "staff": _log_in(world["staff"]["id"])}
    call_command("update_index", verbosity=0)
    return logins


def _model(name: str) -> Any:
    return apps.get_model(name)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZONE)


def _write(model: Any, rows: Iterator[Any]) -> None:
    model.objects.bulk_create(list(rows), batch_size=100)


def _people(world: dict[str, Any]) -> None:
    from django.contrib.auth.hashers import make_password
    from django.contrib.sites.models import Site

    User, Country, Address = _model("auth.User"), _model("address.Country"), _model("address.UserAddress")
    Site.objects.update_or_create(id=1, defaults={"domain": world["host"], "name": "Oscar"})
    Country.objects.create(
        iso_3166_1_a2="GB", iso_3166_1_a3="GBR", iso_3166_1_numeric="826", name="United Kingdom",
        printable_name="United Kingdom", is_shipping_country=True,
    )  # fmt: skip
    password = make_password(world["password"], salt="webdojo")
    joined = _time(world["today"]) - timedelta(days=900)

    def user(person: dict[str, Any], staff: bool) -> Any:
        return User(
            id=person["id"], username=person["email"], email=person["email"], first_name=person["first"],
            last_name=person["last"], password=password, is_staff=staff, is_superuser=staff, date_joined=joined,
        )  # fmt: skip

    _write(User, iter([user(world["staff"], True), *(user(each, False) for each in world["customers"])]))
    for each in world["customers"]:
        address = Address(id=each["id"], user_id=each["id"], country_id="GB", **_address(each))
        address.save()


def _address(person: dict[str, Any]) -> dict[str, str]:
    address = person["address"]
    return {
        "first_name": person["first"], "last_name": person["last"], "line1": address["street"],
        "line4": address["town"], "postcode": address["postcode"],
    }  # fmt: skip


def _catalogue(world: dict[str, Any]) -> None:
    Category, ProductClass = _model("catalogue.Category"), _model("catalogue.ProductClass")
    Product, ProductCategory = _model("catalogue.Product"), _model("catalogue.ProductCategory")
    Attribute, Value = _model("catalogue.ProductAttribute"), _model("catalogue.ProductAttributeValue")
    Partner, Stock = _model("partner.Partner"), _model("partner.StockRecord")
    for each in world["categories"]:
        Category.add_root(id=each["id"], name=each["name"], slug=each["name"].lower())
    kind = ProductClass.objects.create(id=1, name="Goods", slug="goods", requires_shipping=True, track_stock=True)
    Partner.objects.create(id=1, name=world["partner"], code="house")
    labels = {"color": "Colour", "material": "Material", "weight": "Weight (g)"}
    for at, (code, label) in enumerate(labels.items(), 1):
        type_ = "integer" if code == "weight" else "text"
        Attribute.objects.create(id=at, product_class=kind, name=label, code=code, type=type_, required=False)
    scores = defaultdict(list)
    for review in world["reviews"]:
        if review["status"] == 1:
            scores[review["product"]].append(review["score"])
    first = _time(world["today"]) - timedelta(days=600)
    goods = world["products"]
    _write(
        Product,
        (
            Product(
                id=each["id"], structure="standalone", upc=each["upc"], title=each["title"], slug=each["slug"],
                description=each["description"], product_class=kind, is_public=True, is_discountable=True,
                meta_description="",  # as the dashboard saves it
                rating=sum(scores[each["id"]]) / len(scores[each["id"]]) if scores[each["id"]] else None,
            )
            for each in goods
        ),
    )  # fmt: skip
    for each in goods:
        Product.objects.filter(id=each["id"]).update(date_created=first + timedelta(hours=each["id"]))
    pairs = (ProductCategory(id=each["id"], product_id=each["id"], category_id=each["category"]) for each in goods)
    _write(ProductCategory, pairs)
    _write(
        Stock,
        (
            Stock(
                id=each["id"], product_id=each["id"], partner_id=1, partner_sku=each["upc"], price_currency="GBP",
                price=Decimal(each["price"]), num_in_stock=each["stock"], num_allocated=0, low_stock_threshold=5,
            )
            for each in goods
        ),
    )  # fmt: skip
    _write(
        Value,
        (
            Value(
                attribute_id=at, product_id=each["id"],
                **({"value_integer": each[code]} if code == "weight" else {"value_text": each[code]}),
            )
            for each in goods
            for at, code in enumerate(labels, 1)
        ),
    )  # fmt: skip


def _orders(world: dict[str, Any]) -> None:
    Order, Line, Price = _model("order.Order"), _model("order.Line"), _model("order.LinePrice")
    Address = _model("order.ShippingAddress")
    goods = {each["id"]: each for each in world["products"]}
    people = {each["id"]: each for each in world["customers"]}

    def cost(line: dict[str, Any]) -> Decimal:
        return Decimal(goods[line["product"]]["price"]) * line["quantity"]

    orders = world["orders"]
    addresses = (Address(id=o["id"], country_id="GB", **_address(people[o["customer"]])) for o in orders)
    _write(Address, addresses)
    _write(
        Order,
        (
            Order(
                id=each["id"], number=each["number"], site_id=1, user_id=each["customer"], currency="GBP",
                total_incl_tax=(total := sum(map(cost, each["lines"]))), total_excl_tax=total, shipping_incl_tax=0,
                shipping_excl_tax=0, shipping_address_id=each["id"], shipping_method="Free shipping",
                shipping_code="free-shipping", status=each["status"], date_placed=_time(each["date"]),
            )
            for each in orders
        ),
    )  # fmt: skip
    lines = [
        Line(
            order_id=order["id"], partner_id=1, partner_name=world["partner"], partner_sku=product["upc"],
            stockrecord_id=product["id"], product_id=product["id"], title=product["title"], upc=product["upc"],
            quantity=line["quantity"], line_price_incl_tax=cost(line), line_price_excl_tax=cost(line),
            line_price_before_discounts_incl_tax=cost(line), line_price_before_discounts_excl_tax=cost(line),
            unit_price_incl_tax=Decimal(product["price"]), unit_price_excl_tax=Decimal(product["price"]),
            status=order["status"], num_allocated=0,
        )
        for order in orders
        for line in order["lines"]
        for product in [goods[line["product"]]]
    ]  # fmt: skip
    for at, line in enumerate(lines, 1):
        line.id = at
    _write(Line, iter(lines))
    _write(
        Price,
        (
            Price(
                order_id=line.order_id, line_id=line.id, quantity=line.quantity,
                price_incl_tax=line.unit_price_incl_tax, price_excl_tax=line.unit_price_excl_tax,
            )
            for line in lines
        ),
    )  # fmt: skip


def _reviews(world: dict[str, Any]) -> None:
    Review = _model("reviews.ProductReview")
    _write(
        Review,
        (
            Review(
                id=each["id"], product_id=each["product"], user_id=each["customer"], score=each["score"],
                title=each["title"], body=each["body"], status=each["status"],
            )
            for each in world["reviews"]
        ),
    )  # fmt: skip
    for each in world["reviews"]:
        Review.objects.filter(id=each["id"]).update(date_created=_time(each["date"]))


def _log_in(user_id: int) -> list[dict[str, str]]:
    """The cookies of somebody who has logged in."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    user = _model("auth.User").objects.get(id=user_id)
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return [{"name": settings.SESSION_COOKIE_NAME, "value": str(store.session_key)}]
